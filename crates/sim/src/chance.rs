//! Everything random in a simulator, from one seed.
//!
//! The rule: never used for a secret. The same seed and the same order of requests give the same
//! run; that is the whole point.

use rust_decimal::Decimal;

/// The odd constant by which SplitMix64 walks.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
/// How many equally likely parts a probability is compared with.
const PARTS: u64 = 1_000_000_000;

/// A seeded source (SplitMix64).
#[derive(Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, or 0 when there is none.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.bits().checked_rem(bound).unwrap_or(0)
    }

    /// Whether something of this probability happens now.
    pub(crate) fn strikes(&mut self, probability: Decimal) -> bool {
        Decimal::from(self.below(PARTS)) < probability * Decimal::from(PARTS)
    }

    /// Sixteen bytes, as a challenge needs them.
    pub(crate) fn sixteen(&mut self) -> [u8; 16] {
        let wide = (u128::from(self.bits()) << 64) | u128::from(self.bits());
        wide.to_be_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_is_one_sequence() {
        let draw = |seed| {
            let mut chance = Chance::new(seed);
            (0..8).map(|_| chance.bits()).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    #[test]
    fn certainty_always_strikes_and_zero_never() {
        let mut chance = Chance::new(1);
        for _ in 0..1_000 {
            assert!(chance.strikes(Decimal::ONE));
            assert!(!chance.strikes(Decimal::ZERO));
        }
    }
}
