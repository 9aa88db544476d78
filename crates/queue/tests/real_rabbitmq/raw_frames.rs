//! AMQP frames by hand, to publish what no proper client would.
//!
//! The rule: only as much of the protocol as one publish needs; answers are read and not checked
//! beyond their kind.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const METHOD: u8 = 1;
const HEADER: u8 = 2;
const FRAME_END: u8 = 0xce;
const BASIC: u16 = 60;
/// The bit of the property flags that says a message id follows.
const MESSAGE_ID_FLAG: u16 = 1 << 7;

/// Publishes an empty message with these bytes as its message id, as guest.
pub(crate) async fn publish(host: &str, vhost: &str, exchange: &str, key: &str, id: &[u8]) {
    let mut stream = TcpStream::connect(host).await.expect("RabbitMQ listens");
    stream
        .write_all(b"AMQP\0\0\x09\x01")
        .await
        .expect("written");
    answer(&mut stream).await;
    // start-ok: no client properties, PLAIN.
    let login = [
        &[0, 0, 0, 0],
        short(b"PLAIN").as_slice(),
        &long(b"\0guest\0guest"),
        &short(b"C"),
    ];
    send(&mut stream, METHOD, 0, &method(10, 11, &login.concat())).await;
    answer(&mut stream).await;
    // tune-ok: no limit on channels, 128 KiB frames, no heartbeat; then open.
    send(
        &mut stream,
        METHOD,
        0,
        &method(10, 31, &[0, 0, 0, 2, 0, 0, 0, 0]),
    )
    .await;
    let open = [short(vhost.as_bytes()).as_slice(), &[0, 0]].concat();
    send(&mut stream, METHOD, 0, &method(10, 40, &open)).await;
    answer(&mut stream).await;
    send(&mut stream, METHOD, 1, &method(20, 10, &[0])).await;
    answer(&mut stream).await;
    send(&mut stream, METHOD, 1, &method(85, 10, &[0])).await;
    answer(&mut stream).await;
    let route = [
        &[0, 0],
        short(exchange.as_bytes()).as_slice(),
        &short(key.as_bytes()),
        &[0],
    ];
    send(&mut stream, METHOD, 1, &method(BASIC, 40, &route.concat())).await;
    let mut header = BASIC.to_be_bytes().to_vec();
    header.extend([0; 10]);
    header.extend(MESSAGE_ID_FLAG.to_be_bytes());
    header.extend(short(id));
    send(&mut stream, HEADER, 1, &header).await;
    let confirm = answer(&mut stream).await;
    assert_eq!(
        confirm.get(..4),
        Some([0, 60, 0, 80].as_slice()),
        "basic.ack, not {confirm:?}"
    );
}

async fn send(stream: &mut TcpStream, kind: u8, channel: u16, payload: &[u8]) {
    let length = u32::try_from(payload.len())
        .expect("a short frame")
        .to_be_bytes();
    let frame = [
        &[kind],
        channel.to_be_bytes().as_slice(),
        &length,
        payload,
        &[FRAME_END],
    ];
    stream.write_all(&frame.concat()).await.expect("written");
}

async fn answer(stream: &mut TcpStream) -> Vec<u8> {
    let mut head = [0; 7];
    stream.read_exact(&mut head).await.expect("a frame");
    let [_, _, _, a, b, c, d] = head;
    let mut payload = vec![0; u32::from_be_bytes([a, b, c, d]) as usize + 1];
    stream
        .read_exact(&mut payload)
        .await
        .expect("a whole frame");
    payload
}

fn method(class: u16, method: u16, arguments: &[u8]) -> Vec<u8> {
    [
        &class.to_be_bytes(),
        method.to_be_bytes().as_slice(),
        arguments,
    ]
    .concat()
}

fn short(text: &[u8]) -> Vec<u8> {
    [&[u8::try_from(text.len()).expect("a short string")], text].concat()
}

fn long(text: &[u8]) -> Vec<u8> {
    let length = u32::try_from(text.len()).expect("a string").to_be_bytes();
    [length.as_slice(), text].concat()
}
