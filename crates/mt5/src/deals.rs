//! Reading the deals of an account: the server's clock, a total, every page, the total again.
//!
//! The rule: nothing is judged, mended or left out here. What the server stated and what its pages
//! held both go into the reading, and `claimcheck_core::look` decides what that proves.

use std::time::Duration;

use claimcheck_core::{Deal, DealAction, DealTicket, Login, Reading, ServerTime, Window};
use time::OffsetDateTime;

use crate::answer::Record;
use crate::command::Command;
use crate::query::Query;
use crate::read::ReadError;
use crate::session::Session;

/// The most deals that servers give in one page.
pub const DEALS_PER_PAGE: u64 = 100;
/// The most pages of one reading.
pub const PAGES_MAX: u64 = 500;

/// The capability to read deals.
pub trait Deals {
    /// Every deal of `login` from `age` before the server's present until now, the window padded
    /// on both sides. `started_at` is the caller's clock and goes into the reading unchanged.
    ///
    /// # Errors
    /// A part of it could not be read; then nothing was.
    fn deals(
        &mut self,
        login: Login,
        age: Duration,
        started_at: OffsetDateTime,
    ) -> impl Future<Output = Result<Reading, ReadError>> + Send;
}

impl Deals for Session {
    async fn deals(
        &mut self,
        login: Login,
        age: Duration,
        started_at: OffsetDateTime,
    ) -> Result<Reading, ReadError> {
        let window = Window::reaching_back(self.server_time().await?, age);
        let total_before = self.total(login, window).await?;
        let limit = DEALS_PER_PAGE.saturating_mul(PAGES_MAX);
        if total_before > limit {
            return Err(ReadError::TooMany {
                total: total_before,
                limit,
            });
        }
        let mut deals = Vec::new();
        for page in 0..total_before.div_ceil(DEALS_PER_PAGE) {
            let offset = page.saturating_mul(DEALS_PER_PAGE);
            let count = DEALS_PER_PAGE.min(total_before.saturating_sub(offset));
            deals.extend(self.page(login, window, offset, count).await?);
        }
        let total_after = self.total(login, window).await?;
        if deals.iter().any(|deal| deal.login != login) {
            self.link = None;
        }
        Ok(Reading {
            login,
            window,
            started_at,
            total_before,
            total_after,
            deals,
        })
    }
}

impl Session {
    async fn server_time(&mut self) -> Result<ServerTime, ReadError> {
        const COMMAND: Command = Command::TimeServer;
        let answer = self.read(COMMAND, &Query::new()).await?;
        self.expect_success(COMMAND, &answer)?;
        let seconds = answer
            .record()
            .and_then(|record| record.leading_integer("Time"));
        match seconds.filter(|seconds| *seconds > 0) {
            Some(seconds) => Ok(ServerTime::from_seconds(seconds)),
            None => Err(self.unusable(COMMAND, "Time")),
        }
    }

    async fn total(&mut self, login: Login, window: Window) -> Result<u64, ReadError> {
        const COMMAND: Command = Command::DealGetTotal;
        let answer = self.read(COMMAND, &within(login, window)).await?;
        self.expect_success(COMMAND, &answer)?;
        let total = answer.record().and_then(|record| record.integer("Total"));
        match total.and_then(|total| total.try_into().ok()) {
            Some(total) => Ok(total),
            None => Err(self.unusable(COMMAND, "Total")),
        }
    }

    async fn page(
        &mut self,
        login: Login,
        window: Window,
        offset: u64,
        count: u64,
    ) -> Result<Vec<Deal>, ReadError> {
        const COMMAND: Command = Command::DealGetPage;
        let query = within(login, window)
            .with("offset", offset)
            .with("total", count);
        let answer = self.read(COMMAND, &query).await?;
        self.expect_success(COMMAND, &answer)?;
        let Some(records) = answer.records() else {
            return Err(self.unusable(COMMAND, "answer"));
        };
        let deals: Result<Vec<Deal>, &'static str> = records.iter().map(deal).collect();
        deals.map_err(|field| self.unusable(COMMAND, field))
    }

    fn unusable(&mut self, command: Command, field: &'static str) -> ReadError {
        self.distrust(ReadError::Field {
            command: command.path(),
            field,
        })
    }
}

fn within(login: Login, window: Window) -> Query {
    Query::new()
        .with("login", login)
        .with("from", window.from.seconds())
        .with("to", window.to.seconds())
}

/// One deal, or the name of the field that cannot be read. A deal that is only half readable could
/// be the one that is looked for, so it is never left out.
fn deal(record: &Record<'_>) -> Result<Deal, &'static str> {
    let integer = |name| record.integer(name).ok_or(name);
    Ok(Deal {
        ticket: DealTicket::new(integer("Deal")?).ok_or("Deal")?,
        login: Login::new(integer("Login")?).ok_or("Login")?,
        action: DealAction::from_number(integer("Action")?),
        amount: record.decimal("Profit").ok_or("Profit")?,
        comment: record.text("Comment").ok_or("Comment")?.to_owned(),
        time: ServerTime::from_seconds(integer("Time")?),
    })
}
