//! A small client of its own: raw HTTP/1.1 over TCP, and its own handshake arithmetic.
//!
//! The rule: it shares no code with the simulator, so that the two are not each other's mirror.

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use claimcheck_sim::{Mt5Sim, Mt5SimSettings};
use md5::{Digest as _, Md5};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

/// No answer takes longer, unless something is broken.
const PATIENCE: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(5);
pub(crate) const PASSWORD: &str = "Password1";

/// An answer as it was read.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }

    /// The number before the text of the return code.
    pub(crate) fn code(&self) -> Option<u32> {
        let json = self.json();
        json.get("retcode")?
            .as_str()?
            .split(' ')
            .next()?
            .parse()
            .ok()
    }

    pub(crate) fn answer(&self) -> Value {
        self.json().get("answer").cloned().unwrap_or(Value::Null)
    }

    /// A text below `answer`.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.answer().get(name)?.as_str().map(str::to_owned)
    }

    pub(crate) fn rows(&self) -> Vec<Value> {
        self.answer().as_array().cloned().unwrap_or_default()
    }
}

/// A field of a record of texts.
pub(crate) fn field(record: &Value, name: &str) -> String {
    record
        .get(name)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

/// One connection.
pub(crate) struct Connection(TcpStream);

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> anyhow::Result<Self> {
        Ok(Self(TcpStream::connect(address).await?))
    }

    /// Writes a request and reads its answer; `None` when the connection was cut without one.
    pub(crate) async fn call(
        &mut self,
        method: &str,
        path: &str,
        body: &str,
    ) -> anyhow::Result<Option<Reply>> {
        self.send(method, path, body).await?;
        timeout(PATIENCE, self.receive())
            .await
            .context("no answer and no end")?
    }

    pub(crate) async fn send(
        &mut self,
        method: &str,
        path: &str,
        body: &str,
    ) -> anyhow::Result<()> {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: sim\r\nConnection: keep-alive\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        // A connection that the other side has cut may refuse the bytes; reading tells.
        let _ = self.0.write_all(request.as_bytes()).await;
        Ok(())
    }

    async fn receive(&mut self) -> anyhow::Result<Option<Reply>> {
        let mut bytes = Vec::new();
        loop {
            if let Some(reply) = whole(&bytes) {
                return Ok(Some(reply));
            }
            let mut chunk = [0; 4096];
            let count = self.0.read(&mut chunk).await.unwrap_or(0);
            if count == 0 {
                ensure!(bytes.is_empty(), "cut within an answer");
                return Ok(None);
            }
            bytes.extend(chunk.iter().take(count));
        }
    }

    /// A command that is answered.
    pub(crate) async fn get(&mut self, command: &str) -> anyhow::Result<Reply> {
        let reply = self.call("GET", &format!("/api/{command}"), "").await?;
        reply.with_context(|| format!("{command}: cut"))
    }

    /// A balance operation; `None` when it was cut.
    pub(crate) async fn credit(
        &mut self,
        login: u64,
        amount: &str,
        comment: &str,
    ) -> anyhow::Result<Option<Reply>> {
        let form = form_urlencoded::Serializer::new(String::new())
            .append_pair("login", &login.to_string())
            .append_pair("type", "2")
            .append_pair("balance", amount)
            .append_pair("comment", comment)
            .finish();
        self.call("POST", "/api/trade/balance", &form).await
    }

    /// The login of a manager, with the check of the server's own answer.
    pub(crate) async fn log_in(&mut self, login: u64, password: &str) -> anyhow::Result<Reply> {
        let start = format!("auth/start?version=3000&agent=Test&login={login}&type=manager");
        let start = self.get(&start).await?;
        ensure!(start.code() == Some(0), "auth/start: {start:?}");
        let challenge = hex::decode(field(&start.json(), "srv_rand"))?;
        ensure!(challenge.len() == 16, "the challenge has 16 bytes");
        let own = [0x5a_u8; 16];
        let given = hex::encode(digest(password, &challenge));
        let query = format!(
            "auth/answer?srv_rand_answer={given}&cli_rand={}",
            hex::encode(own)
        );
        let welcome = self.get(&query).await?;
        if welcome.status == 200 {
            let mutual = field(&welcome.json(), "cli_rand_answer");
            ensure!(
                mutual == hex::encode(digest(password, &own)),
                "the server is not itself"
            );
        }
        Ok(welcome)
    }
}

/// The documented formula, once more.
fn digest(password: &str, challenge: &[u8]) -> Vec<u8> {
    let wide: Vec<u8> = password.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let salted = [Md5::digest(&wide).as_slice(), b"WebAPI"].concat();
    let hash = Md5::digest(&salted);
    Md5::digest([hash.as_slice(), challenge].concat()).to_vec()
}

/// A whole answer out of these bytes.
fn whole(bytes: &[u8]) -> Option<Reply> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let mut lines = head.split("\r\n");
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let length = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let is_length = name.eq_ignore_ascii_case("content-length");
        is_length.then(|| value.trim().parse::<usize>().ok())?
    });
    let length = length.unwrap_or(0);
    (body.len() >= length).then(|| Reply {
        status,
        body: body.to_owned(),
    })
}

/// A running simulator with two servers and an account each, 7001 in USD.
pub(crate) struct Stage {
    pub(crate) sim: Mt5Sim,
}

impl Stage {
    pub(crate) async fn open() -> anyhow::Result<Self> {
        let managers = json!([
            {"login": 1001, "password": PASSWORD, "may_operate": true},
            {"login": 1002, "password": PASSWORD, "may_operate": false},
        ]);
        let settings: Mt5SimSettings = serde_json::from_value(json!({
            "control": "127.0.0.1:0",
            "seed": 7,
            "servers": [
                {"name": "live-1", "listen": "127.0.0.1:0", "managers": managers},
                {"name": "live-2", "listen": "127.0.0.1:0", "managers": managers,
                 "time_offset_seconds": 0, "first_ticket": 900_000},
            ],
        }))?;
        let stage = Self {
            sim: Mt5Sim::start(settings).await?,
        };
        stage
            .account(json!({"server": "live-1", "login": 7001, "currency": "USD"}))
            .await?;
        Ok(stage)
    }

    pub(crate) async fn account(&self, body: Value) -> anyhow::Result<()> {
        let (status, answer) = self
            .control("POST", "/sim/accounts", &body.to_string())
            .await?;
        ensure!(status == 201, "{answer}");
        Ok(())
    }

    /// A logged-in connection to `live-1`.
    pub(crate) async fn session(&self) -> anyhow::Result<Connection> {
        let mut connection = self.connection("live-1").await?;
        let welcome = connection.log_in(1001, PASSWORD).await?;
        ensure!(welcome.code() == Some(0), "{welcome:?}");
        Ok(connection)
    }

    pub(crate) async fn connection(&self, server: &str) -> anyhow::Result<Connection> {
        let address = self.sim.server_address(server).context("no such server")?;
        Connection::open(address).await
    }

    /// A request to the control side.
    pub(crate) async fn control(
        &self,
        method: &str,
        path: &str,
        body: &str,
    ) -> anyhow::Result<(u16, Value)> {
        let mut connection = Connection::open(self.sim.control_address()).await?;
        let reply = connection.call(method, path, body).await?.context("cut")?;
        Ok((reply.status, reply.json()))
    }

    /// Sets a fault and gives its id.
    pub(crate) async fn fault(&self, body: Value) -> anyhow::Result<u64> {
        let (status, answer) = self
            .control("POST", "/sim/faults", &body.to_string())
            .await?;
        ensure!(status == 201, "{answer}");
        answer.get("id").and_then(Value::as_u64).context("no id")
    }

    pub(crate) async fn hits(&self, id: u64) -> anyhow::Result<u64> {
        let (_, list) = self.control("GET", "/sim/faults", "").await?;
        let list = list.as_array().cloned().unwrap_or_default();
        let fault = list
            .iter()
            .find(|fault| fault.get("id") == Some(&json!(id)));
        let hits = fault
            .and_then(|fault| fault.get("hits"))
            .and_then(Value::as_u64);
        hits.context("no such fault")
    }

    /// The true deals of 7001.
    pub(crate) async fn deals(&self) -> anyhow::Result<Vec<Value>> {
        let (_, list) = self.control("GET", "/sim/deals?login=7001", "").await?;
        list.as_array().cloned().context("no list")
    }

    /// The wire log's balance operations.
    pub(crate) async fn operations(&self) -> anyhow::Result<Vec<Value>> {
        let (_, list) = self
            .control("GET", "/sim/calls?command=trade/balance", "")
            .await?;
        list.as_array().cloned().context("no list")
    }

    /// Waits until the ledger has that many deals of 7001.
    pub(crate) async fn until_deals(&self, count: usize) -> anyhow::Result<()> {
        until(async || Ok(self.deals().await?.len() == count)).await
    }
}

/// Waits for a condition, with a limit.
pub(crate) async fn until<F>(holds: impl Fn() -> F) -> anyhow::Result<()>
where
    F: Future<Output = anyhow::Result<bool>>,
{
    let waiting = async {
        while !holds().await? {
            sleep(POLL).await;
        }
        anyhow::Ok(())
    };
    timeout(PATIENCE, waiting)
        .await
        .context("the condition did not come")?
}

impl Connection {
    /// Waits for the other side to close without being asked anything.
    pub(crate) async fn is_closed_by_the_other_side(&mut self) -> anyhow::Result<bool> {
        let reply = timeout(PATIENCE, self.receive())
            .await
            .context("stayed open")??;
        Ok(reply.is_none())
    }
}
