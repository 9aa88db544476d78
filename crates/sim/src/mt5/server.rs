//! A running simulator: its listeners, its control side, its end.
//!
//! The rule: everything is bound before anything is served, and when it has stopped no task and
//! no socket of it is left.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::control;
use super::link::Link;
use super::settings::Mt5SimSettings;
use super::world::World;

/// The pause after an accept that failed, for want of descriptors perhaps.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Why a simulator does not start.
#[derive(Debug, thiserror::Error)]
pub enum Mt5SimError {
    /// The settings cannot be used; every fault is listed.
    #[error("the simulator's settings are unusable: {}", .0.join("; "))]
    Settings(Vec<String>),
    /// An address cannot be listened on.
    #[error("{what} cannot listen on {address}")]
    Bind {
        /// The control side, or which server.
        what: String,
        /// The address asked for.
        address: SocketAddr,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// A running simulator. It ends when it is dropped; `stop` waits for the end.
pub struct Mt5Sim {
    control: SocketAddr,
    servers: BTreeMap<String, SocketAddr>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Mt5Sim {
    /// Binds every address and begins to serve.
    ///
    /// # Errors
    /// When the settings are unusable or an address is taken.
    pub async fn start(settings: Mt5SimSettings) -> Result<Self, Mt5SimError> {
        let faults = settings.faults();
        if !faults.is_empty() {
            return Err(Mt5SimError::Settings(faults));
        }
        let (listener, control) = bind("the control side", settings.control).await?;
        let mut listeners = Vec::new();
        let mut servers = BTreeMap::new();
        for server in &settings.servers {
            let what = format!("server {}", server.name);
            let (listener, address) = bind(&what, server.listen).await?;
            servers.insert(server.name.clone(), address);
            listeners.push((server.name.clone(), listener));
        }
        let sim = Self {
            control,
            servers,
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
        };
        let world = Arc::new(World::new(&settings));
        for (name, listener) in listeners {
            sim.accept(listener, sim.server(&world, name));
        }
        sim.accept(listener, sim.control_side(&world));
        Ok(sim)
    }

    /// Where the control side listens.
    #[must_use]
    pub fn control_address(&self) -> SocketAddr {
        self.control
    }

    /// Where a server's Web API listens.
    #[must_use]
    pub fn server_address(&self, name: &str) -> Option<SocketAddr> {
        self.servers.get(name).copied()
    }

    /// Cuts every connection and waits until all work has ended. Late applications that are not
    /// due yet are lost with the simulator.
    pub async fn stop(self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Serves until the future ends, then stops.
    pub async fn serve_until(self, end: impl Future<Output = ()>) {
        end.await;
        self.stop().await;
    }

    /// Hands every accepted connection on until the end.
    fn accept(&self, listener: TcpListener, serve: impl Fn(TcpStream) + Send + 'static) {
        let stop = self.stop.clone();
        self.tasks.spawn(async move {
            loop {
                let accepted = tokio::select! {
                    () = stop.cancelled() => return,
                    accepted = listener.accept() => accepted,
                };
                match accepted {
                    Ok((stream, _)) => serve(stream),
                    Err(error) => {
                        tracing::warn!(%error, "a connection was not accepted");
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                    }
                }
            }
        });
    }

    /// What a trade server does with a connection. In maintenance it is closed at once.
    fn server(&self, world: &Arc<World>, name: String) -> impl Fn(TcpStream) + Send + 'static {
        let (world, stop) = (Arc::clone(world), self.stop.clone());
        let tasks = self.tasks.clone();
        move |stream| {
            let idle_limit = {
                let mut state = world.locked();
                let state = &mut *state;
                if state.faults.strikes_maintenance(&name, &mut state.chance) {
                    return;
                }
                state.servers.get(&name).map(|server| server.idle_limit)
            };
            let idle_limit = idle_limit.expect("every listener has a server of its name");
            let _ = stream.set_nodelay(true);
            let (world, name) = (Arc::clone(&world), name.clone());
            let link = Link::new(world, name, tasks.clone(), stop.clone());
            tasks.spawn(link.serve(stream, idle_limit));
        }
    }

    fn control_side(&self, world: &Arc<World>) -> impl Fn(TcpStream) + Send + 'static {
        let (world, stop) = (Arc::clone(world), self.stop.clone());
        let tasks = self.tasks.clone();
        move |stream| {
            let (world, stop) = (Arc::clone(&world), stop.clone());
            tasks.spawn(control::serve(stream, world, stop));
        }
    }
}

impl Drop for Mt5Sim {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

async fn bind(what: &str, address: SocketAddr) -> Result<(TcpListener, SocketAddr), Mt5SimError> {
    let failed = |source| Mt5SimError::Bind {
        what: what.to_owned(),
        address,
        source,
    };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    Ok((listener, bound))
}
