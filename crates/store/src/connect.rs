//! The pool of connections, its limits, and the schema's version.
//!
//! Every connection limits how long a statement, a lock and an idle transaction may last, so that
//! a stuck neighbour costs a bounded wait and an answer "try again", never a drained pool.

use std::str::FromStr;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use time::OffsetDateTime;

use crate::error::StoreError;

/// How a process connects.
#[derive(Debug, Clone)]
pub struct StoreSettings {
    /// `postgres://user:password@host:port/name`.
    pub url: SecretString,
    /// Most connections at a time.
    pub connections: u32,
    /// The name under which the server lists them.
    pub application: String,
}

/// The store. Cloning it is cheap and shares the pool.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) pool: PgPool,
}

/// Longest wait for a free connection, and for a new one.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(3);
/// Limits set on every connection, in milliseconds.
const LIMITS: [(&str, &str); 3] = [
    ("statement_timeout", "5000"),
    ("lock_timeout", "3000"),
    ("idle_in_transaction_session_timeout", "10000"),
];

static MIGRATOR: sqlx::migrate::Migrator = sqlx::migrate!("../../migrations");

impl Store {
    /// Prepares the pool; connections are opened when they are first needed, so a database that
    /// is away at start delays readiness and nothing else.
    ///
    /// # Errors
    /// The URL cannot be read.
    pub fn connect(settings: &StoreSettings) -> Result<Self, StoreError> {
        let options = PgConnectOptions::from_str(settings.url.expose_secret())
            .map_err(|_| StoreError::Url)?
            .application_name(&settings.application)
            .options(LIMITS);
        let pool = PgPoolOptions::new()
            .max_connections(settings.connections)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .connect_lazy_with(options);
        Ok(Self { pool })
    }

    /// Brings the schema up to date. Several at once wait for each other under a lock.
    ///
    /// # Errors
    /// The database is away, or the schema holds a migration that this program does not know.
    pub async fn migrate(&self) -> Result<(), StoreError> {
        // A migration may take longer than any statement of a service.
        let mut connection = self.pool.acquire().await?;
        sqlx::query!("SELECT set_config('statement_timeout', '0', false) AS ignored")
            .fetch_one(&mut *connection)
            .await?;
        sqlx::query!("SELECT set_config('lock_timeout', '60000', false) AS ignored")
            .fetch_one(&mut *connection)
            .await?;
        let outcome = MIGRATOR
            .run(&mut *connection)
            .await
            .map_err(StoreError::Migration);
        drop(connection.detach());
        outcome
    }

    /// Whether the database answers and its schema is at least the one this program knows.
    ///
    /// # Errors
    /// It does not answer, or migrations are missing; the text says which.
    pub async fn check(&self) -> Result<(), StoreError> {
        let newest = MIGRATOR
            .iter()
            .map(|migration| migration.version)
            .max()
            .unwrap_or_default();
        let row = sqlx::query!(
            r#"SELECT COALESCE(max(version), 0) AS "version!" FROM _sqlx_migrations WHERE success"#
        )
        .fetch_one(&self.pool)
        .await?;
        if row.version < newest {
            return Err(StoreError::Migration(
                sqlx::migrate::MigrateError::VersionMissing(newest),
            ));
        }
        Ok(())
    }

    /// The database's own clock, the only one that judges leases and looks.
    ///
    /// # Errors
    /// The database is away.
    pub async fn now(&self) -> Result<OffsetDateTime, StoreError> {
        let row = sqlx::query!(r#"SELECT clock_timestamp() AS "now!""#)
            .fetch_one(&self.pool)
            .await?;
        Ok(row.now)
    }

    /// Closes the pool after the connections in use came back.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}

/// A length in whole microseconds, the form in which lengths travel to the database.
pub(crate) fn microseconds(length: Duration) -> i64 {
    i64::try_from(length.as_micros()).unwrap_or(i64::MAX)
}
