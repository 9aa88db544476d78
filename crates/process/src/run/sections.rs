//! The settings that every process has: `runtime`, `admin` and `telemetry`.

use std::{net::SocketAddr, time::Duration};

use super::drain::DrainSettings;
use crate::{
    Reader,
    telemetry::{Selection, TelemetrySettings, traces_url},
};

const THREADS_MAX: u64 = 64;
const THREADS_DEFAULT: u64 = 2;
const DRAIN_LIMIT_DEFAULT: Duration = Duration::from_secs(30);
const DRAIN_LIMIT_MAX: Duration = Duration::from_secs(600);
const LOG_DEFAULT: &str = "info";

/// What every process is told.
#[derive(Debug)]
pub(super) struct Common {
    pub(super) threads: usize,
    pub(super) admin_listen: SocketAddr,
    pub(super) drain: DrainSettings,
    pub(super) telemetry: TelemetrySettings,
}

pub(super) fn read(reader: &mut Reader) -> Option<Common> {
    let threads = reader.integer_or("runtime.threads", 1..=THREADS_MAX, THREADS_DEFAULT);
    let admin_listen = reader.address("admin.listen");
    let pause = reader.duration_or("admin.drain_pause", Duration::ZERO);
    let limit = reader.duration_or("admin.drain_limit", DRAIN_LIMIT_DEFAULT);
    for (key, value) in [("admin.drain_pause", pause), ("admin.drain_limit", limit)] {
        if value.is_some_and(|value| value > DRAIN_LIMIT_MAX) {
            reader.fault(
                key,
                format!("is too long; give at most {}s", DRAIN_LIMIT_MAX.as_secs()),
            );
        }
    }
    if limit == Some(Duration::ZERO) {
        reader.fault(
            "admin.drain_limit",
            "leaves no time to end; give at least 1s",
        );
    }
    let selection = if reader.has("telemetry.log") {
        reader.parsed("telemetry.log", str::parse::<Selection>)
    } else {
        LOG_DEFAULT.parse().ok()
    };
    let traces = match reader.optional_text("telemetry.otlp_endpoint") {
        Some(_) => reader.parsed("telemetry.otlp_endpoint", traces_url),
        None => None,
    };
    Some(Common {
        threads: usize::try_from(threads?).ok()?,
        admin_listen: admin_listen?,
        drain: DrainSettings {
            pause: pause?,
            limit: limit?,
        },
        telemetry: TelemetrySettings {
            selection: selection?,
            traces_url: traces,
        },
    })
}
