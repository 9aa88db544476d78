//! `lab up` and `lab down`. Both hold the stack's lock, so that they never work at the same time.
//! A first start is whole or leaves nothing; on a running stack only what has died is started.

use std::env;
use std::path::Path;
use std::process::ExitCode;

use claimcheck_lab::{
    Infra, Interrupt, Lock, Place, Replicas, Stack, StackOptions, overlay_from_file, teardown,
};
use toml::Table;

use super::output::{line, note};

/// The stack's name: of its database and vhost.
pub(crate) const STACK: &str = "claimcheck";
const CONFIG: &str = "LAB_CONFIG";
const REPLICAS: &str = "LAB_REPLICAS";
const EXIT_INTERRUPTED: u8 = Interrupt::EXIT;

/// What the environment asks for.
struct Wish {
    overlay: Option<Table>,
    replicas: Option<Replicas>,
}

impl Wish {
    fn read() -> anyhow::Result<Self> {
        let given = |name| env::var_os(name).filter(|value| !value.is_empty());
        let overlay = given(CONFIG).map(|path| overlay_from_file(Path::new(&path)));
        let replicas = given(REPLICAS).map(|text| Replicas::parse(&text.to_string_lossy()));
        Ok(Self {
            overlay: overlay.transpose()?,
            replicas: replicas.transpose()?,
        })
    }
}

/// Starts the stack, or what has died of it.
pub(crate) async fn up(place: &Place) -> anyhow::Result<ExitCode> {
    let wish = Wish::read()?;
    let mut interrupt = Interrupt::listen()?;
    let lock_file = place.stack_lock();
    let lock = tokio::select! {
        lock = Lock::wait(&lock_file) => lock?,
        () = interrupt.wished() => return Ok(ExitCode::from(EXIT_INTERRUPTED)),
    };
    let stack = tokio::select! {
        stack = start(place, wish, &lock) => stack?,
        () = interrupt.wished() => {
            note("interrupted");
            // The guard has the lock until it has ended what was begun.
            drop(lock);
            Lock::wait(&lock_file).await?;
            return Ok(ExitCode::from(EXIT_INTERRUPTED));
        }
    };
    let endpoints = stack.endpoints();
    line(&format!("ingest    {}", endpoints.ingest));
    line(&format!("cashier   {}", endpoints.cashier));
    line(&format!("mt5-sim   {}", endpoints.mt5_sim));
    line(&format!("all else  {}", place.endpoints().display()));
    Ok(ExitCode::SUCCESS)
}

/// Stops the stack and removes its data.
pub(crate) async fn down(place: &Place) -> anyhow::Result<ExitCode> {
    let _lock = Lock::wait(&place.stack_lock()).await?;
    forget(place)?;
    teardown(&place.stack(), true).await?;
    Ok(ExitCode::SUCCESS)
}

async fn start(place: &Place, wish: Wish, lock: &Lock) -> anyhow::Result<Stack> {
    if let Some(stack) = running(place)? {
        return refresh(place, stack, wish).await;
    }
    forget(place)?;
    teardown(&place.stack(), true).await?;
    let infra = Infra::start(&place.stack(), Some(lock)).await?;
    let mut options = StackOptions::named(STACK);
    options.overlay = wish.overlay.unwrap_or_default();
    options.replicas = wish.replicas.unwrap_or_default();
    let started = match Stack::start(&infra, options).await {
        Ok(stack) => stack.endpoints().write(&place.endpoints()).map(|()| stack),
        Err(error) => Err(error),
    };
    match started {
        Ok(stack) => infra.keep().map(|()| stack),
        Err(error) => {
            infra.stop().await?;
            Err(error)
        }
    }
}

async fn refresh(place: &Place, mut stack: Stack, wish: Wish) -> anyhow::Result<Stack> {
    if wish.overlay.is_some() {
        note("what runs already keeps its settings until it is started again");
    }
    stack.infra().ensure().await?;
    stack.ensure(wish.replicas.as_ref(), wish.overlay).await?;
    stack.endpoints().write(&place.endpoints())?;
    Ok(stack)
}

/// The stack that an earlier `up` left.
pub(crate) fn running(place: &Place) -> anyhow::Result<Option<Stack>> {
    let file = place.stack().join("infra.json");
    if !file.is_file() {
        return Ok(None);
    }
    Stack::open(&Infra::attach(&file)?, STACK)
}

fn forget(place: &Place) -> std::io::Result<()> {
    match std::fs::remove_file(place.endpoints()) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
