//! A trace collector small enough to hold in the hand: it takes OTLP over HTTP, or takes nothing.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest, common::v1::any_value, trace::v1::Span,
};
use prost::Message;

/// How it treats whoever connects.
#[derive(Clone, Copy)]
pub(crate) enum Manner {
    Answer,
    Silent,
}

/// Spans with the name of the service that sent them.
type Received = Arc<Mutex<Vec<(String, Span)>>>;

/// A collector on a port of its own, gone when dropped.
pub(crate) struct Collector {
    address: SocketAddr,
    received: Received,
    stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Collector {
    pub(crate) fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its address");
        let received = Received::default();
        let stopped = Arc::new(AtomicBool::new(false));
        let thread = thread::spawn({
            let (received, stopped) = (received.clone(), stopped.clone());
            move || {
                let mut silent = Vec::new();
                for stream in listener.incoming().map_while(Result::ok) {
                    if stopped.load(Ordering::SeqCst) {
                        break;
                    }
                    match manner {
                        Manner::Silent => silent.push(stream),
                        Manner::Answer => answer(stream, &received),
                    }
                }
            }
        });
        Self {
            address,
            received,
            stopped,
            thread: Some(thread),
        }
    }

    pub(crate) fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn spans(&self) -> Vec<(String, Span)> {
        self.received
            .lock()
            .expect("the collector did not panic")
            .clone()
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        // One last connection lets the thread see that it is stopped.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Takes one request, answers it and closes.
fn answer(stream: TcpStream, received: &Received) {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
        let lower = line.to_ascii_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("the whole body");
    let request = ExportTraceServiceRequest::decode(body.as_slice()).expect("an export request");
    for resource in request.resource_spans {
        let service = service_name(resource.resource.as_ref());
        let spans = resource
            .scope_spans
            .into_iter()
            .flat_map(|scope| scope.spans);
        let mut received = received.lock().expect("no reader panicked");
        received.extend(spans.map(|span| (service.clone(), span)));
    }
    let answer = b"HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\n\
        content-length: 0\r\nconnection: close\r\n\r\n";
    let _ = reader.into_inner().write_all(answer);
}

fn service_name(resource: Option<&opentelemetry_proto::tonic::resource::v1::Resource>) -> String {
    let attributes = resource
        .map(|resource| resource.attributes.as_slice())
        .unwrap_or_default();
    let value = attributes
        .iter()
        .find(|attribute| attribute.key == "service.name");
    match value
        .and_then(|value| value.value.as_ref())
        .and_then(|value| value.value.as_ref())
    {
        Some(any_value::Value::StringValue(name)) => name.clone(),
        _ => String::new(),
    }
}
