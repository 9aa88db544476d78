//! Growing pauses between tries of something that may come back: a broker, a server, a look-up.

use std::time::Duration;

/// Doubling pauses between two bounds.
#[derive(Debug, Clone, Copy)]
pub struct Backoff {
    shortest: Duration,
    longest: Duration,
}

impl Backoff {
    /// Pauses from `shortest`, doubling, up to `longest`.
    #[must_use]
    pub const fn new(shortest: Duration, longest: Duration) -> Self {
        Self { shortest, longest }
    }

    /// The pause after `failures` tries in a row; the first failure gives the shortest one.
    #[must_use]
    pub fn pause(&self, failures: u32) -> Duration {
        let factor = 2_u32
            .checked_pow(failures.saturating_sub(1))
            .unwrap_or(u32::MAX);
        self.shortest.saturating_mul(factor).min(self.longest)
    }

    /// The same pause spread over its upper half by `random`, so that many waiters do not return
    /// at the same instant.
    #[must_use]
    pub fn spread(&self, failures: u32, random: u32) -> Duration {
        let half = self.pause(failures) / 2;
        let share = half.saturating_mul(random >> 16) / (1 << 16);
        half.saturating_add(share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BACKOFF: Backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(2));

    #[test]
    fn pauses_double_up_to_the_longest() {
        let pauses: Vec<u128> = [0, 1, 2, 3, 6, 40, u32::MAX]
            .into_iter()
            .map(|failures| BACKOFF.pause(failures).as_millis())
            .collect();
        assert_eq!(pauses, [100, 100, 200, 400, 2000, 2000, 2000]);
    }

    #[test]
    fn a_spread_pause_stays_in_the_upper_half() {
        for random in [0, 1, u32::MAX / 2, u32::MAX] {
            let pause = BACKOFF.spread(2, random);
            assert!(pause >= Duration::from_millis(100) && pause <= Duration::from_millis(200));
        }
    }
}
