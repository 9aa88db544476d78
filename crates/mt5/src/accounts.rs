//! Reading an account: whether it exists, may be used, and in which currency and places it counts.
//!
//! The rule: an answer that names another login or another group is thrown away together with its
//! connection.

use std::time::Instant;

use claimcheck_core::{AccountState, Login};

use crate::command::Command;
use crate::groups::Group;
use crate::query::Query;
use crate::read::ReadError;
use crate::session::Session;

/// "Not found".
const NOT_FOUND: i64 = 13;
/// The right that an account may be used at all.
const RIGHT_ENABLED: i64 = 0x1;

/// The capability to read accounts.
pub trait Accounts {
    /// The account, or `None` when the server knows no such login.
    ///
    /// # Errors
    /// The server did not answer, or not with this account.
    fn account(
        &mut self,
        login: Login,
    ) -> impl Future<Output = Result<Option<AccountState>, ReadError>> + Send;
}

impl Accounts for Session {
    async fn account(&mut self, login: Login) -> Result<Option<AccountState>, ReadError> {
        let Some((enabled, group)) = self.user(login).await? else {
            return Ok(None);
        };
        let Group { currency, digits } = self.group(&group).await?;
        Ok(Some(AccountState {
            login,
            enabled,
            group,
            currency,
            digits,
        }))
    }
}

impl Session {
    async fn user(&mut self, login: Login) -> Result<Option<(bool, String)>, ReadError> {
        const COMMAND: Command = Command::UserGet;
        let field = |field| ReadError::Field {
            command: COMMAND.path(),
            field,
        };
        let answer = self
            .read(COMMAND, &Query::new().with("login", login))
            .await?;
        if answer.code() == NOT_FOUND {
            return Ok(None);
        }
        self.expect_success(COMMAND, &answer)?;
        let Some(record) = answer.record() else {
            return Err(self.distrust(field("answer")));
        };
        let Some(answered) = record.integer("Login") else {
            return Err(self.distrust(field("Login")));
        };
        if answered != login.get() {
            return Err(self.distrust(ReadError::Foreign {
                command: COMMAND.path(),
            }));
        }
        let rights = record.integer("Rights").ok_or_else(|| field("Rights"))?;
        let group = record.text("Group").filter(|group| !group.is_empty());
        let group = group.ok_or_else(|| field("Group"))?;
        Ok(Some((rights & RIGHT_ENABLED != 0, group.to_owned())))
    }

    async fn group(&mut self, name: &str) -> Result<Group, ReadError> {
        const COMMAND: Command = Command::GroupGet;
        let field = |field| ReadError::Field {
            command: COMMAND.path(),
            field,
        };
        if let Some(group) = self.shared.groups.get(name) {
            return Ok(group);
        }
        let asked_at = Instant::now();
        let answer = self
            .read(COMMAND, &Query::new().with("group", name))
            .await?;
        self.expect_success(COMMAND, &answer)?;
        let Some(record) = answer.record() else {
            return Err(self.distrust(field("answer")));
        };
        if record.text("Group") != Some(name) {
            return Err(self.distrust(ReadError::Foreign {
                command: COMMAND.path(),
            }));
        }
        let currency = record
            .text("Currency")
            .filter(|currency| !currency.is_empty());
        let currency = currency.ok_or_else(|| field("Currency"))?.to_owned();
        // How many places make sense is for the check of the account to say.
        let digits = record
            .integer("CurrencyDigits")
            .and_then(|digits| digits.try_into().ok());
        let digits: u32 = digits.ok_or_else(|| field("CurrencyDigits"))?;
        let group = Group { currency, digits };
        self.shared.groups.put(name, asked_at, group.clone());
        Ok(group)
    }
}
