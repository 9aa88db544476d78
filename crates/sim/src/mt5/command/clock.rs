//! `time/server` and `time/get`: the server's clock and its zone.
//!
//! The rule: an epoch of this platform is the wall clock of its zone read as if it were UTC.

use serde::Serialize;
use time::{Duration, OffsetDateTime};

use super::Desk;
use crate::mt5::answer::Answer;

const DAYS: usize = 7;
const HOURS: usize = 24;

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct ServerTime {
    time: String,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Zone {
    daylight: &'static str,
    daylight_state: &'static str,
    time_zone: String,
    time_server: &'static str,
    days: [[&'static str; HOURS]; DAYS],
}

/// `time/server`.
pub(super) fn server(desk: &Desk<'_>) -> Answer {
    Answer::done(ServerTime {
        time: clock_text(desk.now, desk.shift),
    })
}

/// `time/get`.
pub(super) fn zone(desk: &Desk<'_>) -> Answer {
    Answer::done(Zone {
        daylight: "0",
        daylight_state: "0",
        time_zone: (desk.zone_seconds / 60).to_string(),
        time_server: "",
        days: [["1"; HOURS]; DAYS],
    })
}

/// `<epoch> yyyy.mm.dd hh:mm:ss`, both the same wall clock.
fn clock_text(now: OffsetDateTime, shift: i64) -> String {
    let shown = now.saturating_add(Duration::seconds(shift));
    format!(
        "{} {:04}.{:02}.{:02} {:02}:{:02}:{:02}",
        shown.unix_timestamp(),
        shown.year(),
        u8::from(shown.month()),
        shown.day(),
        shown.hour(),
        shown.minute(),
        shown.second()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epoch_and_text_are_the_same_wall_clock() {
        let text = clock_text(OffsetDateTime::UNIX_EPOCH, 10_800);
        assert_eq!(text, "10800 1970.01.01 03:00:00");
    }
}
