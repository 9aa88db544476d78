//! The services that a stack runs. A new service is one line here, and its settings in `settings`.

/// The MT5 simulator's name in records, logs and endpoints.
pub const SIMULATOR: &str = "mt5-sim";

/// One service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Service {
    /// Its name: of the binary, the settings section and the records.
    pub name: &'static str,
    /// Whether it listens for others, beside its admin port.
    pub listens: bool,
    /// Whether its MT5 manager may only read.
    pub reads_only: bool,
}

/// Every service, in the order of starting.
pub const SERVICES: &[Service] = &[
    Service {
        name: "webhook-ingest",
        listens: true,
        reads_only: false,
    },
    Service {
        name: "credit-worker",
        listens: false,
        reads_only: false,
    },
    Service {
        name: "resolver",
        listens: false,
        reads_only: true,
    },
    Service {
        name: "cashier",
        listens: true,
        reads_only: false,
    },
];

/// The record of one replica, counted from zero.
pub(crate) fn replica(service: &str, number: usize) -> String {
    format!("{service}-{}", number + 1)
}
