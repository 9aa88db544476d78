//! Spans on their way to a collector. They wait in a bounded queue and leave from a thread of
//! their own; a collector that is down, slow or silent costs spans, which are counted, and nothing
//! else. Without a collector spans still get their ids, so that log lines can be joined.

use std::{
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::channel,
    },
    thread,
    time::Duration,
};

use actix_web::http::Uri;
use opentelemetry_otlp::{
    ExporterBuildError, Protocol, SpanExporter as OtlpExporter, WithExportConfig,
};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    trace::{BatchConfigBuilder, BatchSpanProcessor, SdkTracerProvider, SpanData, SpanExporter},
};

use super::error_chain;

const EXPORT_TIMEOUT: Duration = Duration::from_secs(3);
const EXPORT_DELAY: Duration = Duration::from_secs(1);
const QUEUE_SPANS_MAX: usize = 2_048;
const BATCH_SPANS_MAX: usize = 512;
/// Where a collector takes traces when only its address is given.
const TRACES_PATH: &str = "/v1/traces";

/// Why a text is no address of a collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not an http:// or https:// URL")]
pub struct EndpointError;

/// The URL that spans are sent to, from the address of a collector or the whole URL.
///
/// # Errors
/// When the text is not an HTTP URL.
pub fn traces_url(text: &str) -> Result<String, EndpointError> {
    let uri: Uri = text.parse().map_err(|_| EndpointError)?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) || uri.host().is_none() {
        return Err(EndpointError);
    }
    if matches!(uri.path(), "" | "/") && uri.query().is_none() {
        return Ok(format!("{}{TRACES_PATH}", text.trim_end_matches('/')));
    }
    Ok(text.to_owned())
}

/// The source of spans of this process.
pub(super) fn provider(
    service: &'static str,
    url: Option<&str>,
) -> Result<SdkTracerProvider, ExporterBuildError> {
    let resource = Resource::builder_empty().with_service_name(service).build();
    let builder = SdkTracerProvider::builder().with_resource(resource);
    let Some(url) = url else {
        return Ok(builder.build());
    };
    let exporter = OtlpExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(url)
        .with_timeout(EXPORT_TIMEOUT)
        .build()?;
    let batches = BatchConfigBuilder::default()
        .with_max_queue_size(QUEUE_SPANS_MAX)
        .with_max_export_batch_size(BATCH_SPANS_MAX)
        .with_scheduled_delay(EXPORT_DELAY)
        .build();
    metrics::counter!("claimcheck_spans_lost_total").increment(0);
    let processor = BatchSpanProcessor::builder(Counted {
        exporter,
        failing: AtomicBool::new(false),
    })
    .with_batch_config(batches)
    .build();
    Ok(builder.with_span_processor(processor).build())
}

/// Sends what is left and stops, in a thread of its own because the exporter blocks; returns after
/// `limit` whatever the collector does.
pub(super) fn stop(provider: &SdkTracerProvider, limit: Duration) {
    let (done, wait) = channel();
    let provider = provider.clone();
    let started = thread::Builder::new()
        .name("span-flush".to_owned())
        .spawn(move || {
            // A failed last export was counted where it failed.
            let _ = provider.shutdown_with_timeout(limit);
            let _ = done.send(());
        });
    if started.is_ok() {
        let _ = wait.recv_timeout(limit);
    }
}

/// Counts the spans that an export loses, and says so once until an export succeeds again.
#[derive(Debug)]
struct Counted {
    exporter: OtlpExporter,
    failing: AtomicBool,
}

impl SpanExporter for Counted {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = u64::try_from(batch.len()).unwrap_or(u64::MAX);
        let result = self.exporter.export(batch).await;
        let was_failing = self.failing.swap(result.is_err(), Ordering::SeqCst);
        if let Err(error) = &result {
            metrics::counter!("claimcheck_spans_lost_total").increment(spans);
            if !was_failing {
                tracing::warn!(error = %error_chain(error), spans, "spans cannot be exported");
            }
        }
        result
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_is_named_by_its_address_or_by_its_whole_url() {
        let table = [
            (
                "http://collector:4318",
                Ok("http://collector:4318/v1/traces"),
            ),
            (
                "http://collector:4318/",
                Ok("http://collector:4318/v1/traces"),
            ),
            (
                "https://c.example/otlp/v1/traces",
                Ok("https://c.example/otlp/v1/traces"),
            ),
            ("collector:4318", Err(EndpointError)),
            ("ftp://collector", Err(EndpointError)),
            ("/v1/traces", Err(EndpointError)),
            ("", Err(EndpointError)),
        ];
        for (text, expected) in table {
            assert_eq!(
                traces_url(text).as_deref(),
                expected.as_ref().map(|url| *url),
                "{text}"
            );
        }
    }
}
