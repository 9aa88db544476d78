//! One connection in hand: a request goes out, its answer comes back, nothing else happens on it.
//!
//! The rule: whoever drops a link in the middle of a call closes its socket, and what the kernel
//! still holds is thrown away. The connection is driven only by the call itself, so nothing is
//! written behind anybody's back.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty, LengthLimitError, Limited};
use hyper::client::conn::http1::{Builder, Connection, SendRequest};
use hyper::header::{CONNECTION, CONTENT_LENGTH, COOKIE, HOST, HeaderValue, SET_COOKIE};
use hyper::http::Error as HttpError;
use hyper::{HeaderMap, Method, Request, Response, body::Incoming};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::command::Command;
use crate::gate::{Gate, Keeper, Passed};
use crate::query::Query;
use crate::settings::Endpoint;

/// The most bytes of an answer's head.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// The most cookies kept for a session; servers set one.
const COOKIES_MAX: usize = 8;

type Driven = Connection<Gate<TokioIo<TcpStream>>, Empty<Bytes>>;

/// A connection to a trade server.
pub(crate) struct Link {
    sender: SendRequest<Empty<Bytes>>,
    connection: Option<Pin<Box<Driven>>>,
    keeper: Keeper,
    authority: String,
    prefix: String,
    cookies: Vec<(String, String)>,
    opened_at: Instant,
    used_at: Instant,
}

/// An answer as it came.
#[derive(Debug)]
pub(crate) struct Reply {
    /// The HTTP status.
    pub(crate) status: u16,
    /// The body, whole.
    pub(crate) body: Bytes,
}

/// Why a call brought no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LinkError {
    /// The connection could not be opened.
    #[error("the trade server cannot be reached")]
    Connect(#[source] io::Error),
    /// Opening it took too long.
    #[error("the trade server did not take the connection within {limit:?}")]
    ConnectTimedOut {
        /// The limit.
        limit: Duration,
    },
    /// The connection was already closed, or held something nobody asked for.
    #[error("the connection was closed before the call")]
    Closed,
    /// The request could not be put together.
    #[error("the request cannot be written")]
    Request(#[source] HttpError),
    /// The exchange broke.
    #[error("the connection broke during the call")]
    Broken(#[source] hyper::Error),
    /// The answer is larger than any honest one.
    #[error("the answer is longer than {limit} bytes or broke off")]
    Body {
        /// The limit in bytes.
        limit: usize,
        /// Whether it was too long; else it broke off.
        is_too_long: bool,
    },
    /// No whole answer in time.
    #[error("no whole answer within {limit:?}")]
    TimedOut {
        /// The limit.
        limit: Duration,
    },
}

impl Link {
    /// Opens a connection.
    pub(crate) async fn open(endpoint: &Endpoint, limit: Duration) -> Result<Self, LinkError> {
        let address = (endpoint.host.as_str(), endpoint.port);
        let stream = timeout(limit, TcpStream::connect(address))
            .await
            .map_err(|_| LinkError::ConnectTimedOut { limit })?
            .map_err(LinkError::Connect)?;
        stream.set_nodelay(true).map_err(LinkError::Connect)?;
        // An abandoned call must not be delivered later out of the kernel's buffer, not even when
        // this process is killed.
        stream.set_zero_linger().map_err(LinkError::Connect)?;
        let (gate, keeper) = Gate::new(TokioIo::new(stream));
        let (sender, connection) = Builder::new()
            .max_buf_size(HEAD_BYTES_MAX)
            .handshake(gate)
            .await
            .map_err(LinkError::Broken)?;
        let now = Instant::now();
        Ok(Self {
            sender,
            connection: Some(Box::pin(connection)),
            keeper,
            authority: endpoint.authority.clone(),
            prefix: endpoint.prefix.clone(),
            cookies: Vec::new(),
            opened_at: now,
            used_at: now,
        })
    }

    /// How long the connection has been open.
    pub(crate) fn age(&self) -> Duration {
        self.opened_at.elapsed()
    }

    /// How long ago the last answer came.
    pub(crate) fn silence(&self) -> Duration {
        self.used_at.elapsed()
    }

    /// Whether the connection still stands, as far as can be seen without a call.
    pub(crate) async fn is_standing(&mut self) -> bool {
        poll_fn(|cx| {
            self.drive(cx);
            Poll::Ready(self.connection.is_some())
        })
        .await
    }

    /// Makes one call. A link that gave an error must be dropped.
    pub(crate) async fn call(
        &mut self,
        command: Command,
        query: &Query,
        send_before: Option<Instant>,
        limits: Limits,
    ) -> (Result<Reply, LinkError>, Passed) {
        let exchange = async {
            let request = self.request(command, query).map_err(LinkError::Request)?;
            self.prepare().await?;
            self.keeper.open(send_before);
            self.exchange(request, limits.body_bytes).await
        };
        let result = timeout(limits.time, exchange)
            .await
            .unwrap_or(Err(LinkError::TimedOut { limit: limits.time }));
        (result, self.keeper.shut())
    }

    fn request(&self, command: Command, query: &Query) -> Result<Request<Empty<Bytes>>, HttpError> {
        let mut target = format!("{}/api/{}", self.prefix, command.path());
        if !query.as_str().is_empty() {
            target.push('?');
            target.push_str(query.as_str());
        }
        let method = command.method();
        let mut request = Request::builder()
            .uri(target)
            .header(HOST, &self.authority)
            .header(CONNECTION, "keep-alive");
        if method == Method::POST {
            request = request.header(CONTENT_LENGTH, "0");
        }
        if !self.cookies.is_empty() {
            let pairs: Vec<String> = self
                .cookies
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            let mut cookie = HeaderValue::try_from(pairs.join("; "))?;
            cookie.set_sensitive(true);
            request = request.header(COOKIE, cookie);
        }
        request.method(method).body(Empty::new())
    }

    /// Waits until the connection takes a request. A connection that the server closed, or that
    /// holds bytes nobody asked for, is found out here, with the gate still shut.
    async fn prepare(&mut self) -> Result<(), LinkError> {
        poll_fn(|cx| {
            self.drive(cx);
            if self.connection.is_none() {
                return Poll::Ready(Err(LinkError::Closed));
            }
            self.sender.poll_ready(cx).map_err(|_| LinkError::Closed)
        })
        .await
    }

    async fn exchange(
        &mut self,
        request: Request<Empty<Bytes>>,
        body_bytes: usize,
    ) -> Result<Reply, LinkError> {
        let response = self.sender.send_request(request);
        let (headers, reply) = {
            let answer = async move { collect(response.await, body_bytes).await };
            let mut answer = pin!(answer);
            poll_fn(|cx| {
                self.drive(cx);
                answer.as_mut().poll(cx)
            })
            .await?
        };
        self.keep_cookies(&headers);
        self.used_at = Instant::now();
        Ok(reply)
    }

    /// Moves the connection on. A finished one is dropped at once, which closes the socket and
    /// tells whoever waits for an answer.
    fn drive(&mut self, cx: &mut Context<'_>) {
        if let Some(connection) = &mut self.connection
            && connection.as_mut().poll(cx).is_ready()
        {
            self.connection = None;
        }
    }

    fn keep_cookies(&mut self, headers: &HeaderMap) {
        for value in headers.get_all(SET_COOKIE) {
            let Some((name, value)) = value
                .to_str()
                .ok()
                .and_then(|text| text.split(';').next())
                .and_then(|pair| pair.trim().split_once('='))
            else {
                continue;
            };
            self.cookies.retain(|(known, _)| known != name);
            if self.cookies.len() < COOKIES_MAX {
                self.cookies.push((name.to_owned(), value.to_owned()));
            }
        }
    }
}

/// The limits of one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// From asking to the last byte of the answer.
    pub(crate) time: Duration,
    /// The answer's body.
    pub(crate) body_bytes: usize,
}

async fn collect(
    response: hyper::Result<Response<Incoming>>,
    limit: usize,
) -> Result<(HeaderMap, Reply), LinkError> {
    let (head, body) = response.map_err(LinkError::Broken)?.into_parts();
    let body = Limited::new(body, limit)
        .collect()
        .await
        .map_err(|error| LinkError::Body {
            limit,
            is_too_long: error.downcast_ref::<LengthLimitError>().is_some(),
        })?;
    Ok((
        head.headers,
        Reply {
            status: head.status.as_u16(),
            body: body.to_bytes(),
        },
    ))
}
