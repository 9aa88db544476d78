//! The one way a process of ours starts and ends. Settings are judged before anything is bound or
//! connected; a stop request drains within a bound; a panic anywhere ends the whole process,
//! because half a process is worse than none and the lease makes dying safe.

mod arguments;
mod drain;
mod panic;
mod sections;

use std::{
    env,
    ffi::OsString,
    future::Future,
    io::Write,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use tokio::runtime::{Builder, Runtime};

use self::{
    arguments::{Arguments, Asked},
    sections::Common,
};
use crate::{Clock, Faults, Reader, Readiness, Shutdown, admin, error_chain, telemetry::Telemetry};

/// The app failed, or did not end in time.
const EXIT_FAILED: u8 = 1;
/// The command line is wrong.
const EXIT_USAGE: u8 = 2;
/// The settings are wrong.
const EXIT_SETTINGS: u8 = 64;
/// The variable that names the settings file when no argument does.
const SETTINGS_VARIABLE: &str = "CLAIMCHECK_SETTINGS";
/// How often the metrics' memory is tidied when nobody scrapes.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

/// What an app is given to run with.
#[derive(Clone, Debug)]
pub struct Context {
    /// The name of the service.
    pub name: &'static str,
    /// The stop request: the app ends soon after it.
    pub shutdown: Shutdown,
    /// Where the app registers its checks, and opens itself once it has started.
    pub readiness: Readiness,
    /// The time.
    pub clock: Clock,
}

/// Runs a service: command line, settings, telemetry, admin port, the app until it ends, and the
/// exit code. `read` reads the service's own settings, `app` is everything it does.
pub fn run<S, F, Fut>(name: &'static str, read: fn(&mut Reader) -> Option<S>, app: F) -> ExitCode
where
    F: FnOnce(S, Context) -> Fut,
    Fut: Future<Output = anyhow::Result<()>>,
{
    let arguments = match arguments::parse(env::args_os().skip(1)) {
        Ok(Asked::Run(arguments)) => arguments,
        Ok(Asked::Help) => return say(&arguments::help(name)),
        Ok(Asked::Version) => return say(&format!("{name} {}", env!("CARGO_PKG_VERSION"))),
        Err(error) => {
            Telemetry::last_words(&format!("{name}: {error}; see {name} --help"));
            return ExitCode::from(EXIT_USAGE);
        }
    };
    let path = settings_path(&arguments);
    let (common, settings) = match load(path.as_deref(), read) {
        Ok(loaded) => loaded,
        Err(faults) => {
            for fault in faults.iter() {
                Telemetry::last_words(&format!("settings: {fault}"));
            }
            return ExitCode::from(EXIT_SETTINGS);
        }
    };
    if arguments.check {
        return say("the settings are good");
    }
    match start(name, common, |context| app(settings, context)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failed) => ExitCode::from(EXIT_FAILED),
    }
}

/// It went wrong and was reported where it did.
struct Failed;

fn load<S>(path: Option<&Path>, read: fn(&mut Reader) -> Option<S>) -> Result<(Common, S), Faults> {
    let mut reader = Reader::open(path, env::vars_os())?;
    let common = sections::read(&mut reader);
    let settings = read(&mut reader);
    reader.finish(common.zip(settings))
}

fn settings_path(arguments: &Arguments) -> Option<PathBuf> {
    let from_environment = || env::var_os(SETTINGS_VARIABLE).filter(|path| !path.is_empty());
    arguments
        .settings
        .clone()
        .or_else(|| from_environment().map(PathBuf::from))
}

fn start<F, Fut>(name: &'static str, common: Common, app: F) -> Result<(), Failed>
where
    F: FnOnce(Context) -> Fut,
    Fut: Future<Output = anyhow::Result<()>>,
{
    // Refused only when a provider is installed already, and there is only this one to install.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let context = Context {
        name,
        shutdown: Shutdown::new(),
        readiness: Readiness::new(),
        clock: Clock::system(),
    };
    let telemetry = Telemetry::start(name, context.clock.clone(), common.telemetry.clone())
        .map_err(|error| not_started(name, &error))?;
    let telemetry = Arc::new(telemetry);
    panic::end_process_on_panic(telemetry.clone());
    let runtime = Builder::new_multi_thread()
        .worker_threads(common.threads)
        .thread_name(name)
        .enable_all()
        .build()
        .map_err(|error| not_started(name, &error))?;

    let ended = drive(&runtime, &common, &telemetry, context, app);
    if let Err(error) = &ended {
        tracing::error!(error = %error_chain(error.as_ref()), "failed");
    } else {
        tracing::info!("stopped");
    }
    telemetry.flush();
    // What still blocks a thread must not hold up the end.
    runtime.shutdown_background();
    ended.map_err(|_| Failed)
}

/// Everything that happens inside the runtime.
fn drive<F, Fut>(
    runtime: &Runtime,
    common: &Common,
    telemetry: &Arc<Telemetry>,
    context: Context,
    app: F,
) -> anyhow::Result<()>
where
    F: FnOnce(Context) -> Fut,
    Fut: Future<Output = anyhow::Result<()>>,
{
    runtime.block_on(async {
        let metrics = telemetry.metrics();
        let (server, address) = admin::bind(
            common.admin_listen,
            context.readiness.clone(),
            metrics.clone(),
            runtime.handle().clone(),
        )?;
        tokio::spawn(server);
        tokio::spawn(async move {
            let mut interval = tokio::time::interval(UPKEEP_INTERVAL);
            loop {
                interval.tick().await;
                metrics.run_upkeep();
            }
        });
        let _ended = drain::watch(&common.drain, &context, telemetry.clone())?;
        tracing::info!(
            version = env!("CARGO_PKG_VERSION"),
            admin = %address,
            threads = common.threads,
            "starting"
        );
        app(context).await
    })
}

fn not_started(name: &str, error: &dyn std::error::Error) -> Failed {
    Telemetry::last_words(&format!("{name}: cannot start: {}", error_chain(error)));
    Failed
}

fn say(text: &str) -> ExitCode {
    // Whoever closed our stdout does not want the answer.
    let _ = writeln!(std::io::stdout(), "{text}");
    ExitCode::SUCCESS
}

/// An argument as it can be shown.
fn shown(argument: &OsString) -> String {
    argument.to_string_lossy().into_owned()
}
