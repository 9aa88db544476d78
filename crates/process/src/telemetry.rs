//! What people see of a running process: JSON lines on stdout, spans with trace ids, metrics. None
//! of it may ever hold up the work: whatever cannot be written or exported is dropped and counted,
//! and the end of the process waits for it only within a bound.

mod chain;
mod export;
mod line;
mod output;
mod selection;
mod trace;

use std::{io::Write, time::Duration};

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::Subscriber;
use tracing_subscriber::{Registry, layer::SubscriberExt};

pub use self::{
    chain::error_chain,
    export::{EndpointError, traces_url},
    selection::{Selection, SelectionError},
    trace::{continue_trace, trace_parent},
};
use self::{line::JsonLines, output::Output};
use crate::Clock;

/// How long the end of the process waits for spans to be exported.
const EXPORT_FLUSH_LIMIT: Duration = Duration::from_secs(2);
/// How long the end of the process waits for log lines to be written.
const LOG_FLUSH_LIMIT: Duration = Duration::from_secs(1);
/// Upper bounds in seconds of the buckets of every histogram: from a database statement to a
/// payment that went through the resolver.
const BUCKETS_SECONDS: &[f64] = &[
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0,
    120.0, 300.0,
];

/// What a process says about itself, from settings.
#[derive(Clone, Debug)]
pub(crate) struct TelemetrySettings {
    pub(crate) selection: Selection,
    pub(crate) traces_url: Option<String>,
}

/// The running telemetry of this process.
pub(crate) struct Telemetry {
    provider: SdkTracerProvider,
    output: Output,
    metrics: PrometheusHandle,
}

/// Why telemetry could not be started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TelemetryError {
    #[error("the metrics recorder cannot be installed")]
    Metrics(#[source] metrics_exporter_prometheus::BuildError),
    #[error("the span exporter cannot be built")]
    Exporter(#[source] opentelemetry_otlp::ExporterBuildError),
    #[error("the subscriber for logs and spans cannot be installed")]
    Subscriber(#[source] tracing::subscriber::SetGlobalDefaultError),
}

impl Telemetry {
    /// Starts it for the whole process; works once.
    pub(crate) fn start(
        service: &'static str,
        clock: Clock,
        settings: TelemetrySettings,
    ) -> Result<Self, TelemetryError> {
        let metrics = PrometheusBuilder::new()
            .set_buckets(BUCKETS_SECONDS)
            .and_then(PrometheusBuilder::install_recorder)
            .map_err(TelemetryError::Metrics)?;
        let provider = export::provider(service, settings.traces_url.as_deref())
            .map_err(TelemetryError::Exporter)?;
        let output = Output::start(std::io::stdout());
        let subscriber = subscriber(
            service,
            clock,
            settings.selection,
            &provider,
            output.clone(),
        );
        tracing::subscriber::set_global_default(subscriber).map_err(TelemetryError::Subscriber)?;
        metrics::gauge!(
            "claimcheck_build_info", "service" => service, "version" => env!("CARGO_PKG_VERSION")
        )
        .set(1.0);
        Ok(Self {
            provider,
            output,
            metrics,
        })
    }

    /// Renders the metrics and keeps their memory in bounds.
    pub(crate) fn metrics(&self) -> PrometheusHandle {
        self.metrics.clone()
    }

    /// Lets out what is still inside, within a bound: spans first, because a failed export logs.
    pub(crate) fn flush(&self) {
        export::stop(&self.provider, EXPORT_FLUSH_LIMIT);
        self.output.flush(LOG_FLUSH_LIMIT);
    }

    /// Writes a last line to stderr, for what must be seen even when stdout is blocked.
    pub(crate) fn last_words(text: &str) {
        // A closed stderr leaves nobody to tell.
        let _ = writeln!(std::io::stderr(), "{text}");
    }
}

fn subscriber(
    service: &'static str,
    clock: Clock,
    selection: Selection,
    provider: &SdkTracerProvider,
    output: Output,
) -> impl Subscriber + Send + Sync + use<> {
    // The parent of a span is the tracing span around it; OpenTelemetry's own current context is
    // left alone, so a span starts only when it is first looked at and can be continued until then.
    let spans = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer(service))
        .with_context_activation(false)
        .with_location(false)
        .with_threads(false);
    Registry::default()
        .with(selection)
        .with(spans)
        .with(JsonLines::new(service, clock, output))
}

#[cfg(test)]
mod tests;
