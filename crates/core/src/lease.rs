//! The times that keep a call from being late, and the relations between them.
//!
//! A call may leave only while the rest of its lease covers the call itself and a margin. All
//! times are lengths, never clocks: the database judges leases, workers count down.

use std::time::Duration;

use time::OffsetDateTime;

/// The times of one installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    lease: Duration,
    call_timeout: Duration,
    margin: Duration,
    late_apply_margin: Duration,
    visibility_lag: Duration,
    case_after: Duration,
}

/// Times that contradict each other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TimesFault {
    /// A length of zero.
    #[error("{name} must be longer than zero")]
    Zero {
        /// The setting.
        name: &'static str,
    },
    /// The lease does not outlast the wait, the call and the margin.
    #[error(
        "the lease ({lease:?}) must be longer than queue_wait + call_timeout + margin \
         ({needed:?}); lengthen it or shorten those"
    )]
    LeaseTooShort {
        /// The lease.
        lease: Duration,
        /// What it must exceed.
        needed: Duration,
    },
}

impl Times {
    /// Checks every relation and reports all that are broken.
    ///
    /// # Errors
    /// Any length of zero; a lease that does not outlast queue wait, call and margin together.
    pub fn new(
        lease: Duration,
        queue_wait: Duration,
        call_timeout: Duration,
        margin: Duration,
        late_apply_margin: Duration,
        visibility_lag: Duration,
        case_after: Duration,
    ) -> Result<Self, Vec<TimesFault>> {
        let named = [
            ("lease", lease),
            ("queue_wait", queue_wait),
            ("call_timeout", call_timeout),
            ("margin", margin),
            ("late_apply_margin", late_apply_margin),
            ("visibility_lag", visibility_lag),
            ("case_after", case_after),
        ];
        let mut faults: Vec<TimesFault> = named
            .iter()
            .filter(|(_, length)| length.is_zero())
            .map(|(name, _)| TimesFault::Zero { name })
            .collect();
        let needed = queue_wait
            .saturating_add(call_timeout)
            .saturating_add(margin);
        if lease <= needed {
            faults.push(TimesFault::LeaseTooShort { lease, needed });
        }
        if faults.is_empty() {
            return Ok(Self {
                lease,
                call_timeout,
                margin,
                late_apply_margin,
                visibility_lag,
                case_after,
            });
        }
        Err(faults)
    }

    /// How long a claim lasts.
    #[must_use]
    pub fn lease(&self) -> Duration {
        self.lease
    }

    /// How long one call to MT5 may take.
    #[must_use]
    pub fn call_timeout(&self) -> Duration {
        self.call_timeout
    }

    /// How far apart two looks must lie before they agree on absence.
    #[must_use]
    pub fn visibility_lag(&self) -> Duration {
        self.visibility_lag
    }

    /// How long an operation may stay unknown before a person hears of it.
    #[must_use]
    pub fn case_after(&self) -> Duration {
        self.case_after
    }

    /// How long from now a call may still leave, given what is left of its lease; `None` when it
    /// may not leave at all.
    #[must_use]
    pub fn send_within(&self, lease_left: Duration) -> Option<Duration> {
        lease_left
            .checked_sub(self.call_timeout.saturating_add(self.margin))
            .filter(|left| !left.is_zero())
    }

    /// The instant from which absence can be proved: the last moment at which the call could
    /// leave, plus its timeout, plus the time MT5 may take to apply what it has read.
    #[must_use]
    pub fn provable_from(&self, lease_expires_at: OffsetDateTime) -> OffsetDateTime {
        lease_expires_at
            .checked_sub(time_duration(self.margin))
            .and_then(|at| at.checked_add(time_duration(self.late_apply_margin)))
            .unwrap_or(lease_expires_at)
    }
}

/// A length as the `time` crate counts it; lengths of settings always fit.
pub(crate) fn time_duration(length: Duration) -> time::Duration {
    time::Duration::try_from(length).unwrap_or(time::Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(lease: u64) -> Result<Times, Vec<TimesFault>> {
        let s = Duration::from_secs;
        Times::new(s(lease), s(2), s(5), s(1), s(6), s(4), s(60))
    }

    #[test]
    fn a_lease_must_outlast_wait_call_and_margin() {
        assert_eq!(
            times(8),
            Err(vec![TimesFault::LeaseTooShort {
                lease: Duration::from_secs(8),
                needed: Duration::from_secs(8)
            }])
        );
        assert!(times(9).is_ok());
    }

    #[test]
    fn every_broken_relation_is_reported() {
        let zero = Duration::ZERO;
        let faults = Times::new(zero, zero, zero, zero, zero, zero, zero).expect_err("all zero");
        assert_eq!(faults.len(), 8);
    }

    #[test]
    fn a_call_leaves_only_while_the_lease_covers_it() {
        let times = times(15).expect("is consistent");
        let s = Duration::from_secs;
        assert_eq!(times.send_within(s(15)), Some(s(9)));
        assert_eq!(times.send_within(s(6)), None);
        assert_eq!(times.send_within(s(0)), None);
    }

    #[test]
    fn absence_is_provable_only_after_the_last_possible_send_and_its_margins() {
        let times = times(15).expect("is consistent");
        let end = OffsetDateTime::UNIX_EPOCH;
        let last_send = end - time::Duration::seconds(6);
        assert_eq!(
            times.provable_from(end),
            last_send + time::Duration::seconds(5 + 6)
        );
    }
}
