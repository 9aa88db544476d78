//! One connection to RabbitMQ, from the first byte to the last.
//!
//! The rule: a link is never repaired. When anything about it is wrong it is thrown away and the
//! keeper opens another; the AMQP library's own recovery stays off, because it replays consumers
//! and confirms in ways that cannot be told from a live connection. Whatever happens, the socket
//! is cut in the end, so that a silent peer cannot keep the library's thread for ever.

use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lapin::options::ConfirmSelectOptions;
use lapin::uri::{AMQPScheme, AMQPUri};
use lapin::{AsyncTcpStream, Channel, Connection, ConnectionProperties};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::settings::{QueueSettings, SettingsError};
use crate::topology::{TopologyError, declare};

/// Publishes in flight on one connection; each has a channel to itself.
pub(crate) const CHANNELS_MAX: u32 = 16;
/// How often a link is asked whether it still stands, beside what the library reports.
const ALIVE_CHECK_INTERVAL: Duration = Duration::from_millis(250);
/// How long a farewell may take before the socket is cut.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);
const REPLY_SUCCESS: u16 = 200;

/// Why there is no link.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LinkError {
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error("no connection to RabbitMQ within {0:?}")]
    TimedOut(Duration),
    #[error("no connection to RabbitMQ")]
    Refused(#[source] lapin::Error),
    #[error(transparent)]
    Topology(#[from] TopologyError),
    #[error("the queue could not be consumed")]
    Consume(#[source] lapin::Error),
    #[error("the connection to RabbitMQ ended")]
    Lost(#[source] Option<lapin::Error>),
}

/// An open connection with the topology declared.
pub(crate) struct Link {
    connection: Arc<Connection>,
    socket: Socket,
    delivery_limit: u8,
    /// One permit per publish in flight.
    pub(crate) permits: Semaphore,
    idle: Mutex<Vec<Channel>>,
}

impl Link {
    /// Connects and declares, all within the connect timeout.
    pub(crate) async fn open(settings: &QueueSettings, role: &str) -> Result<Self, LinkError> {
        let uri = settings.uri()?;
        let limit = settings.connect_timeout;
        let name = format!("{} {role}", settings.connection_name);
        let opening = async {
            let guard = CutOnDrop::default();
            let connection = dial(uri, name, limit, guard.0.clone()).await?;
            let link = Self {
                connection: Arc::new(connection),
                socket: guard.disarm(),
                delivery_limit: settings.delivery_limit,
                permits: Semaphore::new(usize::try_from(CHANNELS_MAX).unwrap_or(1)),
                idle: Mutex::default(),
            };
            link.declare().await?;
            Ok(link)
        };
        timeout(limit, opening)
            .await
            .unwrap_or(Err(LinkError::TimedOut(limit)))
    }

    /// Declares the topology again, on a channel of its own: a refusal costs that channel.
    pub(crate) async fn declare(&self) -> Result<(), LinkError> {
        let channel = self.channel().await.map_err(LinkError::Refused)?;
        Ok(declare(&channel, self.delivery_limit).await?)
    }

    pub(crate) async fn channel(&self) -> lapin::Result<Channel> {
        self.connection.create_channel().await
    }

    /// A channel in confirm mode with nothing unconfirmed on it.
    ///
    /// The library hands a returned message to whichever confirm comes next, so two publishes on
    /// one channel could swap their answers.
    pub(crate) async fn confirm_channel(&self) -> lapin::Result<Channel> {
        let idle = self
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        if let Some(channel) = idle.filter(|channel| channel.status().connected()) {
            return Ok(channel);
        }
        let channel = self.channel().await?;
        channel
            .confirm_select(ConfirmSelectOptions::default())
            .await?;
        Ok(channel)
    }

    /// Takes back a channel whose publish was answered. One without an answer must be dropped.
    pub(crate) fn give_back(&self, channel: Channel) {
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(channel);
    }

    /// Whether the connection stands as far as anyone knows.
    pub(crate) fn is_alive(&self) -> bool {
        self.connection.status().connected()
    }

    /// Whether RabbitMQ takes no publishes now, for want of memory or disk.
    pub(crate) fn is_blocked(&self) -> bool {
        self.connection.status().blocked()
    }

    /// Returns when the connection no longer stands.
    pub(crate) async fn broken(&self) {
        while self.is_alive() {
            sleep(ALIVE_CHECK_INTERVAL).await;
        }
    }

    /// Says goodbye and cuts the socket.
    pub(crate) async fn close(&self) {
        farewell(&self.connection, &self.socket).await;
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let (connection, socket) = (Arc::clone(&self.connection), self.socket.clone());
        match Handle::try_current() {
            Ok(runtime) => {
                runtime.spawn(async move { farewell(&connection, &socket).await });
            }
            Err(_) => socket.cut(),
        }
    }
}

async fn farewell(connection: &Connection, socket: &Socket) {
    if connection.status().connected() {
        let closing = connection.close(REPLY_SUCCESS, "OK".into());
        if !matches!(timeout(CLOSE_TIMEOUT, closing).await, Ok(Ok(()))) {
            tracing::debug!("RabbitMQ did not answer the goodbye");
        }
    }
    socket.cut();
}

/// Opens the socket ourselves, only to keep a handle on it.
async fn dial(
    uri: AMQPUri,
    name: String,
    limit: Duration,
    socket: Socket,
) -> Result<Connection, LinkError> {
    let runtime = lapin::runtime::default_runtime().map_err(LinkError::Refused)?;
    let properties = ConnectionProperties::default().with_connection_name(name.into());
    let reactor = runtime.clone();
    let connect = async move |uri: AMQPUri, _| {
        let host = (uri.authority.host.as_str(), uri.authority.port);
        let opening = async {
            let addresses: Vec<_> = tokio::net::lookup_host(host).await?.collect();
            let stream = AsyncTcpStream::connect(&reactor, addresses).await?;
            if let AsyncTcpStream::Plain(plain) = &stream {
                socket.keep(plain.get_ref().as_fd().try_clone_to_owned()?.into());
            }
            match uri.scheme {
                AMQPScheme::AMQP => Ok(stream),
                AMQPScheme::AMQPS => {
                    stream
                        .into_tls(&uri.authority.host, Default::default())
                        .await
                }
            }
        };
        let late = |_| Err(std::io::ErrorKind::TimedOut.into());
        let stream: std::io::Result<_> = timeout(limit, opening).await.unwrap_or_else(late);
        stream.map_err(lapin::Error::from)
    };
    Connection::connector(uri, runtime, connect, properties)
        .await
        .map_err(LinkError::Refused)
}

/// A second handle on the connection's socket, kept for cutting it.
#[derive(Clone, Default)]
struct Socket(Arc<Mutex<SocketState>>);

#[derive(Default)]
enum SocketState {
    #[default]
    Closed,
    Open(TcpStream),
    /// Cut before it was even open: whatever is opened now is cut at once.
    Cut,
}

impl Socket {
    fn keep(&self, stream: TcpStream) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*state, SocketState::Cut) {
            shut(&stream);
        } else {
            *state = SocketState::Open(stream);
        }
    }

    fn cut(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let SocketState::Open(stream) = std::mem::replace(&mut *state, SocketState::Cut) {
            shut(&stream);
        }
    }
}

/// Ends a connection attempt that nobody waits for any more.
#[derive(Default)]
struct CutOnDrop(Socket);

impl CutOnDrop {
    fn disarm(mut self) -> Socket {
        std::mem::take(&mut self.0)
    }
}

impl Drop for CutOnDrop {
    fn drop(&mut self) {
        self.0.cut();
    }
}

fn shut(stream: &TcpStream) {
    if let Err(error) = stream.shutdown(Shutdown::Both) {
        tracing::trace!(%error, "the socket was closed already");
    }
}
