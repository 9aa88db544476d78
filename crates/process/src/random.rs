//! Where randomness enters: the operating system's source, through `ring`. Tags and fresh names
//! are made from it; nothing in the workspace seeds a generator of its own for them.

use ring::rand::{SecureRandom, SystemRandom};

/// `N` unpredictable bytes.
#[must_use]
pub fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    SystemRandom::new()
        .fill(&mut bytes)
        .expect("the operating system always has a source of randomness once it is up");
    bytes
}

/// A number below `n`, every one equally likely.
#[must_use]
pub fn below(n: u64) -> u64 {
    assert!(n > 0, "there is no number below zero");
    // The last, incomplete stretch of the 64-bit range would favour small numbers: draw again.
    let whole = u64::MAX - u64::MAX % n;
    loop {
        let drawn = u64::from_le_bytes(bytes());
        if drawn < whole {
            return drawn % n;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_below_the_bound_turns_up_and_none_above() {
        let mut seen = [0_u32; 5];
        for _ in 0..2_000 {
            let drawn = usize::try_from(below(5)).expect("below five");
            seen[drawn] += 1;
        }
        assert!(seen.iter().all(|&times| times > 200), "{seen:?}");
        assert_eq!(below(1), 0);
        assert!(below(u64::MAX) < u64::MAX);
    }

    #[test]
    fn two_draws_differ() {
        assert_ne!(bytes::<16>(), bytes::<16>());
    }
}
