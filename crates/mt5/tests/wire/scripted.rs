//! A trade server that answers by script and writes down every byte that reached it.
//!
//! It shares no code with the client: HTTP is read by hand, and the handshake is its own.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use claimcheck_core::{Currency, Login, Money, OperationKind, Outcome, Reference, ServerName, Tag};
use claimcheck_mt5::{BalanceCall, Operate as _, Server, ServerSettings};
use md5::{Digest as _, Md5};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What the server does with a request.
pub(crate) enum Act {
    /// Answers with this body.
    Json(String),
    /// Answers with this status and body.
    Status(u16, String),
    /// Writes these bytes.
    Raw(String),
    /// Writes these bytes and closes.
    RawThenClose(Vec<u8>),
    /// Answers with this body, and closes.
    JsonThenClose(String),
    /// Answers with this body, twice.
    Twice(String),
    /// Never answers.
    Hang,
}

/// One request, as far as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    /// Which connection it came on.
    pub(crate) connection: usize,
    /// The head, or the part of it that was read.
    pub(crate) head: String,
}

impl Ask {
    /// The command below `/api/`.
    pub(crate) fn command(&self) -> &str {
        let target = self.head.split(' ').nth(1).unwrap_or_default();
        target
            .split('?')
            .next()
            .unwrap_or_default()
            .trim_start_matches("/api/")
    }

    /// A parameter, decoded.
    pub(crate) fn parameter(&self, name: &str) -> Option<String> {
        let query = self.head.split(' ').nth(1)?.split_once('?')?.1;
        form_urlencoded::parse(query.as_bytes())
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.into_owned())
    }
}

type Script = dyn Fn(&Ask) -> Option<Act> + Send + Sync;

#[derive(Default)]
struct Seen {
    asks: Vec<Ask>,
    connections: usize,
    closed: Vec<usize>,
    cut_post_after: Option<usize>,
}

/// A running server.
#[derive(Clone)]
pub(crate) struct Scripted {
    address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
}

/// The password of the only manager.
pub(crate) const PASSWORD: &str = "Password1";
const SRV_RAND: &str = "73007dc7184747ce0f7c98516ef1c851";
/// How long a condition is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

impl Scripted {
    /// Starts a server; what `script` leaves open is answered as a sound server does.
    pub(crate) async fn start(
        script: impl Fn(&Ask) -> Option<Act> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("is bound");
        let server = Self {
            address,
            seen: Arc::default(),
        };
        let (accepting, script) = (server.clone(), Arc::new(script) as Arc<Script>);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (server, script) = (accepting.clone(), Arc::clone(&script));
                let connection = server.with(|seen| {
                    seen.connections += 1;
                    seen.connections
                });
                tokio::spawn(async move {
                    server.serve(stream, connection, &*script).await;
                    server.with(|seen| seen.closed.push(connection));
                });
            }
        });
        server
    }

    /// Settings of a client.
    pub(crate) fn settings(&self) -> ServerSettings {
        let name = ServerName::parse("live-1").expect("is a slug");
        let url = format!("http://{}", self.address);
        let mut settings = ServerSettings::new(name, url, "1001".to_owned(), PASSWORD.into());
        settings.call_timeout = Duration::from_secs(5);
        settings
    }

    /// A client with default settings.
    pub(crate) fn client(&self) -> Server {
        Server::new(self.settings()).expect("the settings are sound")
    }

    /// Requests of a command, in order.
    pub(crate) fn asked(&self, command: &str) -> Vec<Ask> {
        self.with(|seen| {
            seen.asks
                .iter()
                .filter(|ask| ask.command() == command)
                .cloned()
                .collect()
        })
    }

    /// Requests that move money, whole or in part, by their heads as far as they arrived.
    pub(crate) fn posts(&self) -> Vec<String> {
        self.with(|seen| {
            let heads = seen.asks.iter().map(|ask| ask.head.clone());
            heads.filter(|head| head.starts_with('P')).collect()
        })
    }

    /// Connections ever opened.
    pub(crate) fn connections(&self) -> usize {
        self.with(|seen| seen.connections)
    }

    /// From now on, balance requests are cut after that many of their bytes were read.
    pub(crate) fn cut_posts_after(&self, bytes: usize) {
        self.with(|seen| seen.cut_post_after = Some(bytes));
    }

    /// Waits until the client or the server closed this connection.
    pub(crate) async fn until_closed(&self, connection: usize) {
        self.until(|seen| seen.closed.contains(&connection)).await;
    }

    /// Waits until a command was asked at least `times` times.
    pub(crate) async fn until_asked(&self, command: &str, times: usize) {
        self.until(|seen| {
            seen.asks
                .iter()
                .filter(|ask| ask.command() == command)
                .count()
                >= times
        })
        .await;
    }

    async fn until(&self, condition: impl Fn(&Seen) -> bool) {
        let started = Instant::now();
        while !self.with(|seen| condition(seen)) {
            assert!(started.elapsed() < PATIENCE, "waited too long");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    fn with<T>(&self, f: impl FnOnce(&mut Seen) -> T) -> T {
        f(&mut self.seen.lock().expect("no holder panicked"))
    }

    async fn serve(&self, mut stream: TcpStream, connection: usize, script: &Script) {
        while let Some(ask) = self.read(&mut stream, connection).await {
            let act = script(&ask).unwrap_or_else(|| sound(&ask));
            let written = match act {
                Act::Json(body) => stream.write_all(&response(200, &body)).await,
                Act::Status(status, body) => stream.write_all(&response(status, &body)).await,
                Act::Raw(text) => stream.write_all(text.as_bytes()).await,
                Act::Twice(body) => {
                    let twice = [response(200, &body), response(200, &body)].concat();
                    stream.write_all(&twice).await
                }
                Act::RawThenClose(bytes) => {
                    let _ = stream.write_all(&bytes).await;
                    return;
                }
                Act::JsonThenClose(body) => {
                    let _ = stream.write_all(&response(200, &body)).await;
                    return;
                }
                Act::Hang => loop {
                    // Only the client's leaving ends this; bytes that still come are noted.
                    match stream.read_u8().await {
                        Ok(byte) => self.with(|seen| {
                            let head = char::from(byte).to_string();
                            seen.asks.push(Ask { connection, head });
                        }),
                        Err(_) => return,
                    }
                },
            };
            if written.is_err() {
                return;
            }
        }
    }

    /// Reads one head; `None` when the connection ended or is to be cut.
    async fn read(&self, stream: &mut TcpStream, connection: usize) -> Option<Ask> {
        let mut head = Vec::new();
        loop {
            let is_post = head.first() == Some(&b'P');
            let cut = self.with(|seen| seen.cut_post_after);
            if is_post && cut.is_some_and(|bytes| head.len() >= bytes) {
                break;
            }
            match stream.read_u8().await {
                Ok(byte) => head.push(byte),
                Err(error) if error.kind() == ErrorKind::UnexpectedEof && head.is_empty() => {
                    return None;
                }
                Err(_) => break,
            }
            if head.ends_with(b"\r\n\r\n") {
                break;
            }
        }
        if head.is_empty() {
            return None;
        }
        let is_whole = head.ends_with(b"\r\n\r\n");
        let head = String::from_utf8_lossy(&head).into_owned();
        let ask = Ask { connection, head };
        self.with(|seen| seen.asks.push(ask.clone()));
        let is_cut = self
            .with(|seen| seen.cut_post_after)
            .is_some_and(|_| ask.head.starts_with('P'));
        (is_whole && !is_cut).then_some(ask)
    }
}

/// A whole HTTP answer.
pub(crate) fn response(status: u16, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status} Any\r\nContent-Length: {length}\r\n\r\n{body}").into_bytes()
}

/// The answer of a sound server.
fn sound(ask: &Ask) -> Act {
    let done = |answer: &str| format!(r#"{{"retcode":"0 Done","answer":{answer}}}"#);
    Act::Json(match ask.command() {
        "auth/start" => format!(r#"{{"retcode":"0 Done","srv_rand":"{SRV_RAND}"}}"#),
        "auth/answer" => return authenticate(ask),
        "time/server" => done(r#"{"Time":"1796040000 2026.11.30 12:00:00"}"#),
        "user/get" => {
            let login = ask.parameter("login").unwrap_or_default();
            done(&format!(
                r#"{{"Login":"{login}","Group":"real\\USD 1","Rights":"483"}}"#
            ))
        }
        "group/get" => done(r#"{"Group":"real\\USD 1","Currency":"USD","CurrencyDigits":"2"}"#),
        "trade/balance" => done(r#"{"Ticket":"136623"}"#),
        "deal/get_total" => done(r#"{"Total":"0"}"#),
        "deal/get_page" => done("[]"),
        _ => r#"{"retcode":"0 Done"}"#.to_owned(),
    })
}

fn authenticate(ask: &Ask) -> Act {
    let parameter = |name: &str| ask.parameter(name).unwrap_or_default();
    if parameter("srv_rand_answer") != proof(SRV_RAND) {
        return Act::Status(403, r#"{"retcode":"1001 Invalid account"}"#.to_owned());
    }
    let proof = proof(&parameter("cli_rand"));
    Act::Json(format!(
        r#"{{"retcode":"0 Done","cli_rand_answer":"{proof}"}}"#
    ))
}

/// What a side that knows the password answers to a challenge.
pub(crate) fn proof(challenge: &str) -> String {
    let wide: Vec<u8> = PASSWORD.bytes().flat_map(|byte| [byte, 0]).collect();
    let inner = [Md5::digest(&wide).as_slice(), b"WebAPI"].concat();
    let challenge = hex::decode(challenge).unwrap_or_default();
    hex::encode(Md5::digest(
        [Md5::digest(&inner).as_slice(), &challenge].concat(),
    ))
}

/// The login that tests use.
pub(crate) fn login() -> Login {
    Login::new(100_234).expect("is above zero")
}

/// A deposit of 500 USD.
pub(crate) fn call() -> BalanceCall {
    let usd = Currency::parse("USD").expect("is known");
    BalanceCall {
        login: login(),
        kind: OperationKind::Deposit,
        amount: Money::from_minor(50_000, usd).expect("is positive"),
        digits: 2,
        reference: Reference::mint(OperationKind::Deposit, 48_213, Tag::from_random(7)),
    }
}

/// One balance call on a session of its own, with time enough.
pub(crate) async fn operate(client: &Server) -> Outcome {
    let mut session = client.session(PATIENCE).await.expect("the server is up");
    let send_before = Instant::now() + Duration::from_secs(5);
    session.operate(&call(), send_before).await
}
