//! A private RabbitMQ node: every port, folder and variable its own, on the loopback address. The
//! port mapper of Erlang (epmd) is private too and started first, because one that a node starts by
//! itself outlives it and is known to nobody.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};
use claimcheck_process::random;
use serde::{Deserialize, Serialize};
use tokio::net::TcpStream;

use crate::child::{self, Launch};
use crate::http::{client, is_good};
use crate::private;
use crate::process::{Process, Signal};
use crate::wait::ready;

/// The name in records, logs and endpoints.
pub(crate) const NAME: &str = "rabbitmq";
/// The port mapper's name in records and logs.
pub(crate) const EPMD: &str = "epmd";
/// The system's wrapper changes to another user and loses the environment; this script does not.
const SERVER: &str = "/usr/lib/rabbitmq/bin/rabbitmq-server";
/// How many ports a node needs.
pub(crate) const PORTS: usize = 4;
const READY_LIMIT: Duration = Duration::from_secs(90);
/// The one name that the node looks up, so that it needs no helper processes to look up names.
const NAMES: &str = "{lookup, [file]}.\n{host, {127,0,0,1}, [\"localhost\"]}.\n";
const STOP_LIMIT: Duration = Duration::from_secs(30);
const EPMD_LIMIT: Duration = Duration::from_secs(5);
/// The node's data needs little; a laptop's memory is not all its own.
const MEMORY_MAX: &str = "512MB";
const DISK_FREE_MIN: &str = "50MB";

/// What must be known to reach the node, and to start it again.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct RabbitMq {
    pub(crate) amqp_port: u16,
    pub(crate) management_port: u16,
    distribution_port: u16,
    epmd_port: u16,
    pub(crate) user: String,
    pub(crate) password: String,
}

impl RabbitMq {
    pub(crate) fn new(ports: &[u16]) -> anyhow::Result<Self> {
        let [amqp_port, management_port, distribution_port, epmd_port] = *ports else {
            bail!("a RabbitMQ node needs {PORTS} ports");
        };
        Ok(Self {
            amqp_port,
            management_port,
            distribution_port,
            epmd_port,
            user: format!("lab-{}", hex::encode(random::bytes::<4>())),
            password: hex::encode(random::bytes::<16>()),
        })
    }

    pub(crate) fn url(&self, vhost: &str) -> String {
        let Self {
            amqp_port,
            user,
            password,
            ..
        } = self;
        let vhost = vhost.replace('/', "%2f");
        format!("amqp://{user}:{password}@127.0.0.1:{amqp_port}/{vhost}")
    }

    pub(crate) fn management_url(&self) -> String {
        let Self {
            management_port,
            user,
            password,
            ..
        } = self;
        format!("http://{user}:{password}@127.0.0.1:{management_port}")
    }

    /// Starts the port mapper and the node, on the data that is there.
    pub(crate) async fn start(&self, dir: &Path) -> anyhow::Result<()> {
        if !Path::new(SERVER).is_file() {
            bail!("there is no {SERVER}; run `make setup`");
        }
        let home = dir.join(NAME);
        for name in ["home", "mnesia", "log"] {
            private::dir(&home.join(name))?;
        }
        self.configure(&home)?;
        self.start_epmd(dir).await?;
        let process = self.launch(dir, &home).start().await?.process;
        let client = client()?;
        let overview = format!("{}/api/overview", self.management_url());
        ready(
            NAME,
            process,
            &child::log(dir, NAME),
            READY_LIMIT,
            async || is_open(self.amqp_port).await && is_good(&client, &overview).await,
        )
        .await
    }

    /// Ends the node in good order; the port mapper stays for its return.
    pub(crate) async fn stop(&self, dir: &Path) -> anyhow::Result<()> {
        let Some(process) = child::living(dir, NAME) else {
            return Ok(());
        };
        process.end(&[(Signal::Term, STOP_LIMIT)]).await
    }

    /// Sends a request to the management API.
    pub(crate) async fn manage(
        &self,
        method: reqwest::Method,
        path: &str,
        body: serde_json::Value,
    ) -> anyhow::Result<()> {
        let url = format!("{}/api/{path}", self.management_url());
        let request = client()?.request(method, url).json(&body);
        let answer = request.send().await.map_err(reqwest::Error::without_url);
        let answer = answer.context("RabbitMQ's management API does not answer")?;
        if !answer.status().is_success() {
            bail!(
                "RabbitMQ's management API answered {} to {path}",
                answer.status()
            );
        }
        Ok(())
    }

    async fn start_epmd(&self, dir: &Path) -> anyhow::Result<()> {
        if child::living(dir, EPMD).is_some() {
            return Ok(());
        }
        let launch = Launch::new(EPMD, dir, EPMD)
            .env("ERL_EPMD_PORT", self.epmd_port.to_string())
            .env("ERL_EPMD_ADDRESS", "127.0.0.1");
        let process: Process = launch.start().await?.process;
        ready(
            EPMD,
            process,
            &child::log(dir, EPMD),
            EPMD_LIMIT,
            async || is_open(self.epmd_port).await,
        )
        .await
    }

    fn configure(&self, home: &Path) -> anyhow::Result<()> {
        let cookie = home.join("home/.erlang.cookie");
        if !cookie.is_file() {
            private::write(&cookie, &hex::encode(random::bytes::<16>()))?;
            // Erlang accepts a cookie only if nobody else may read it.
            fs::set_permissions(&cookie, fs::Permissions::from_mode(0o400))
                .context("the cookie's mode cannot be set")?;
        }
        private::write(&home.join("enabled_plugins"), "[rabbitmq_management].\n")?;
        private::write(&home.join("inetrc"), NAMES)?;
        let Self {
            amqp_port,
            management_port,
            user,
            password,
            ..
        } = self;
        let settings = format!(
            "listeners.tcp.1 = 127.0.0.1:{amqp_port}\n\
             management.tcp.ip = 127.0.0.1\n\
             management.tcp.port = {management_port}\n\
             default_user = {user}\n\
             default_pass = {password}\n\
             vm_memory_high_watermark.absolute = {MEMORY_MAX}\n\
             disk_free_limit.absolute = {DISK_FREE_MIN}\n\
             log.file = false\n\
             log.console = true\n"
        );
        private::write(&home.join("rabbitmq.conf"), &settings)
    }

    fn launch(&self, dir: &Path, home: &Path) -> Launch {
        let node = format!("claimcheck{}@localhost", self.amqp_port);
        let interface = "-kernel inet_dist_use_interface {127,0,0,1}";
        // Believing itself under systemd, the script becomes the node instead of minding one.
        Launch::new(SERVER, dir, NAME)
            .env("RUNNING_UNDER_SYSTEMD", "true")
            .env("HOME", home.join("home"))
            .env("RABBITMQ_NODENAME", node)
            .env("RABBITMQ_NODE_PORT", self.amqp_port.to_string())
            .env("RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1")
            .env("RABBITMQ_DIST_PORT", self.distribution_port.to_string())
            .env("ERL_EPMD_PORT", self.epmd_port.to_string())
            .env("ERL_EPMD_ADDRESS", "127.0.0.1")
            .env("ERL_INETRC", home.join("inetrc"))
            .env("RABBITMQ_MNESIA_BASE", home.join("mnesia"))
            .env("RABBITMQ_LOG_BASE", home.join("log"))
            .env("RABBITMQ_PID_FILE", home.join("pid"))
            .env("RABBITMQ_CONF_ENV_FILE", "/dev/null")
            .env("RABBITMQ_CONFIG_FILE", home.join("rabbitmq.conf"))
            .env(
                "RABBITMQ_ADVANCED_CONFIG_FILE",
                home.join("advanced.config"),
            )
            .env(
                "RABBITMQ_ENABLED_PLUGINS_FILE",
                home.join("enabled_plugins"),
            )
            .env("RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS", interface)
    }
}

async fn is_open(port: u16) -> bool {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    TcpStream::connect(address).await.is_ok()
}
