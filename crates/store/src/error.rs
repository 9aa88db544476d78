//! What can go wrong with the database, in the words a caller needs: try again, or never.

/// An error of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database cannot be reached, is too slow, or refused for a passing reason. Nothing was
    /// committed, or it is not known whether it was; the caller may try again.
    #[error("the database did not answer")]
    Unavailable(#[source] sqlx::Error),
    /// Two writers met; the caller may try again.
    #[error("another writer was in the way")]
    Contended(#[source] sqlx::Error),
    /// A named rule of the schema refused the write.
    #[error("the rule {constraint} refused the write")]
    Refused {
        /// The constraint or trigger.
        constraint: String,
        /// The database's own error.
        #[source]
        source: sqlx::Error,
    },
    /// A row holds something that no code of ours writes.
    #[error("{table}.{column} of row {id} holds something unreadable")]
    Inconsistent {
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
        /// The row.
        id: String,
    },
    /// The schema is not the one this program was built for.
    #[error("the schema could not be brought up to date")]
    Migration(#[source] sqlx::migrate::MigrateError),
    /// The URL of the database is not one.
    #[error("the database URL cannot be read; it looks like postgres://user:password@host/name")]
    Url,
    /// A statement failed for a reason that trying again will not mend.
    #[error("a statement failed")]
    Statement(#[source] sqlx::Error),
}

/// SQLSTATE of a deadlock and of a serialisation failure.
const CONTENTION: [&str; 2] = ["40P01", "40001"];
/// SQLSTATE classes and codes that pass by themselves: connection trouble, shutdown, resources,
/// a lock or statement that took too long, a read-only server.
const PASSING: [&str; 9] = [
    "08", "53", "57P01", "57P02", "57P03", "57014", "55P03", "25006", "25P03",
];
/// SQLSTATE raised by the guards of the schema.
const GUARD: [&str; 2] = ["CC001", "CC002"];

impl StoreError {
    /// Whether the same call may work later.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::Contended(_))
    }

    /// Whether this is the refusal of the constraint of that name.
    pub(crate) fn is_refusal_of(&self, name: &str) -> bool {
        matches!(self, Self::Refused { constraint, .. } if constraint == name)
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        let Some(database) = error.as_database_error() else {
            let is_ours = matches!(
                error,
                sqlx::Error::RowNotFound
                    | sqlx::Error::ColumnDecode { .. }
                    | sqlx::Error::Decode(_)
                    | sqlx::Error::Encode(_)
                    | sqlx::Error::ColumnNotFound(_)
            );
            return if is_ours {
                Self::Statement(error)
            } else {
                Self::Unavailable(error)
            };
        };
        let code = database.code().unwrap_or_default().into_owned();
        if CONTENTION.contains(&code.as_str()) {
            return Self::Contended(error);
        }
        if PASSING.iter().any(|prefix| code.starts_with(prefix)) {
            return Self::Unavailable(error);
        }
        if GUARD.contains(&code.as_str()) {
            return Self::Refused {
                constraint: "guard".to_owned(),
                source: error,
            };
        }
        match database.constraint().map(str::to_owned) {
            Some(constraint) => Self::Refused {
                constraint,
                source: error,
            },
            None => Self::Statement(error),
        }
    }
}
