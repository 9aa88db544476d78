//! How a stack starts, and how what has died is started again. On a failed first start nothing is
//! left running.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail};
use futures_util::future::try_join_all;
use tokio::process::Command;
use toml::Table;

use super::state::{self, State};
use super::{Stack, StackOptions, folder, overlay_file, record_name, unknown};
use crate::child::{self, Launch};
use crate::endpoints::Endpoints;
use crate::guard::Guard;
use crate::http::{client, is_good};
use crate::infra::Infra;
use crate::place::binary;
use crate::private;
use crate::replicas::Replicas;
use crate::services::{SERVICES, SIMULATOR};
use crate::settings;
use crate::teardown::teardown;
use crate::wait::ready;

/// How long a process may take until it is ready.
const READY_LIMIT: Duration = Duration::from_secs(60);

impl Stack {
    /// Starts a stack and waits until every service is ready.
    ///
    /// # Errors
    /// Something does not get ready; then nothing of the stack is left running.
    pub async fn start(infra: &Infra, options: StackOptions) -> anyhow::Result<Self> {
        let dir = folder(infra, &options.name);
        private::dir(&dir)?;
        let guard = if infra.is_guarded() {
            None
        } else {
            Some(Guard::start(&dir, None)?)
        };
        let mut state = State::new(&options.name, options.seed)?;
        state.extend(&options.replicas, &options.overlay)?;
        let mut stack = Self {
            dir,
            infra: infra.attached(),
            state,
            overlay: options.overlay,
            endpoints: Endpoints::default(),
            guard,
        };
        match stack.begin().await {
            Ok(()) => Ok(stack),
            Err(error) => {
                teardown(&stack.dir, true).await?;
                Err(error)
            }
        }
    }

    /// The stack that `up` left running; `None` if none was ever whole.
    ///
    /// # Errors
    /// What it remembers is not understood.
    pub fn open(infra: &Infra, name: &str) -> anyhow::Result<Option<Self>> {
        let dir = folder(infra, name);
        if !state::file(&dir).is_file() {
            return Ok(None);
        }
        let overlay = std::fs::read_to_string(overlay_file(&dir));
        let overlay = overlay.context("the laid-over settings cannot be read")?;
        let mut stack = Self {
            state: State::read(&dir)?,
            overlay: overlay
                .parse()
                .context("the laid-over settings are not TOML")?,
            dir,
            infra: infra.attached(),
            endpoints: Endpoints::default(),
            guard: None,
        };
        stack.endpoints = stack.look()?;
        Ok(Some(stack))
    }

    /// Starts again what has died and leaves the rest alone. Replicas may be added; a new overlay
    /// is read by what is started from now on.
    ///
    /// # Errors
    /// Something does not get ready; what runs goes on running.
    pub async fn ensure(
        &mut self,
        replicas: Option<&Replicas>,
        overlay: Option<Table>,
    ) -> anyhow::Result<()> {
        if let Some(overlay) = overlay {
            self.overlay = overlay;
        }
        if let Some(replicas) = replicas {
            self.state.extend(replicas, &self.overlay)?;
        }
        self.write()?;
        self.start_missing().await
    }

    /// Starts one replica, at its own address, and waits until it is ready.
    ///
    /// # Errors
    /// It runs already, or does not get ready.
    pub async fn start_service(&self, service: &str, number: usize) -> anyhow::Result<()> {
        let name = record_name(service, number);
        if self.process(service, number).is_some() {
            bail!("{name} runs already");
        }
        let (launch, url) = if service == SIMULATOR {
            self.simulator()?
        } else {
            self.service(service, number)?
        };
        let process = launch.start().await?.process;
        let client = client()?;
        let log = child::log(&self.dir, &name);
        ready(&name, process, &log, READY_LIMIT, async || {
            is_good(&client, &url).await
        })
        .await
    }

    async fn begin(&mut self) -> anyhow::Result<()> {
        self.write()?;
        let name = &self.state.name;
        tokio::try_join!(
            self.infra.create_database(name),
            self.infra.create_vhost(name)
        )?;
        self.start_missing().await?;
        // Only a stack that was whole once is worth remembering.
        self.state.write(&self.dir)
    }

    async fn start_missing(&mut self) -> anyhow::Result<()> {
        migrate(&self.settings_file()).await?;
        let members = self.members();
        let missing =
            |(service, number): &(&'static str, usize)| self.process(service, *number).is_none();
        // The simulator first: a service that finds it away has to wait before it tries again.
        if missing(&(SIMULATOR, 0)) {
            self.start_service(SIMULATOR, 0).await?;
        }
        let services = members.into_iter().filter(missing);
        let starts = services.map(|(service, number)| self.start_service(service, number));
        try_join_all(starts).await?;
        self.endpoints = self.look()?;
        Ok(())
    }

    /// Writes the settings, and what a later `ensure` needs if the stack was whole before.
    fn write(&self) -> anyhow::Result<()> {
        let mut all = settings::base(&self.dir, &self.infra, &self.state)?;
        settings::lay_over(&mut all, &self.overlay);
        settings::write(&self.settings_file(), &all)?;
        settings::write(&overlay_file(&self.dir), &self.overlay)?;
        let simulator = settings::simulator(&self.dir, &self.state)?;
        settings::write(&self.dir.join("simulator.toml"), &simulator)?;
        if state::file(&self.dir).is_file() {
            self.state.write(&self.dir)?;
        }
        Ok(())
    }

    fn simulator(&self) -> anyhow::Result<(Launch, String)> {
        let launch = Launch::new(binary("claimcheck")?, &self.dir, SIMULATOR);
        let launch = launch.args(&["sim", "mt5", "--settings"]);
        let launch = launch.arg(self.dir.join("simulator.toml"));
        let control = self.state.simulator.control;
        Ok((launch, format!("http://127.0.0.1:{control}/sim/faults")))
    }

    fn service(&self, name: &str, number: usize) -> anyhow::Result<(Launch, String)> {
        let known = SERVICES.iter().find(|service| service.name == name);
        let service = known.ok_or_else(|| unknown(name))?;
        let addresses = self.state.replicas(name).get(number);
        let addresses = addresses.with_context(|| format!("{name} has no replica {number}"))?;
        let record = record_name(name, number);
        let mut launch = Launch::new(binary(name)?, &self.dir, &record)
            .arg("--settings")
            .arg(self.settings_file())
            .env("CLAIMCHECK__ADMIN__LISTEN", addresses.admin.to_string());
        if let Some(listen) = addresses.listen {
            let section = name.to_uppercase().replace('-', "_");
            launch = launch.env(
                &format!("CLAIMCHECK__{section}__LISTEN"),
                listen.to_string(),
            );
        }
        if service.reads_only {
            for (variable, value) in settings::reading_managers(&self.dir, &self.overlay)? {
                launch = launch.env(&variable, value);
            }
        }
        Ok((launch, format!("http://{}/readyz", addresses.admin)))
    }
}

/// Brings a database's schema up to date, by the command that a rollout would use.
///
/// # Errors
/// The command is not built, or fails.
pub async fn migrate(settings: &Path) -> anyhow::Result<()> {
    let output = Command::new(binary("claimcheck")?)
        .args(["migrate", "--settings"])
        .arg(settings)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .context("claimcheck cannot be started")?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        bail!("the schema cannot be brought up to date: {}", words.trim());
    }
    Ok(())
}
