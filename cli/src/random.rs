//! Randomness for generated parameters: the operating system's.
//!
//! Generated values are passwords as often as not, so nothing seeded or reproducible is offered.

use processor::Random;
use rand::TryRng;
use rand::rngs::SysRng;

/// The operating system's generator.
pub(crate) struct SystemRandom;

impl Random for SystemRandom {
    /// Uniform in `0..bound`, by rejecting draws beyond the largest multiple of `bound`.
    fn below(&mut self, bound: u32) -> u32 {
        let limit = u32::MAX - u32::MAX % bound;
        loop {
            let draw = SysRng
                .try_next_u32()
                .expect("the operating system has random numbers once it has booted");
            if draw < limit {
                return draw % bound;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_below_the_bound_occurs_and_none_above() {
        let mut seen = [false; 7];
        for _ in 0..2000 {
            seen[SystemRandom.below(7) as usize] = true;
        }
        assert_eq!(seen, [true; 7]);
        assert_eq!(SystemRandom.below(1), 0);
    }
}
