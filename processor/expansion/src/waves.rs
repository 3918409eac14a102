//! Waves: what may be created at once, once everything is there that it needs.

/// Puts things that need each other, each by its position, in waves: everything stands in the first wave that comes after
/// all that it needs. Within a wave the order is that of the positions. Removal goes through the waves backwards.
///
/// What is in a circle, or needs something in one, has no such wave; all of it comes together in a last one, so that
/// nothing is lost. [`Links::needs`](crate::Links::needs) have no circles. A position that nothing has is not waited for.
pub fn waves(needs: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut needed_by: Vec<Vec<usize>> = vec![Vec::new(); needs.len()];
    let mut unmet = vec![0_usize; needs.len()];
    for (at, needs_of) in needs.iter().enumerate() {
        for &other in needs_of.iter().filter(|&&other| other < needs.len()) {
            needed_by[other].push(at);
            unmet[at] += 1;
        }
    }
    let mut waves = Vec::new();
    let mut wave: Vec<usize> = (0..needs.len()).filter(|&at| unmet[at] == 0).collect();
    while !wave.is_empty() {
        let mut next = Vec::new();
        for &at in wave.iter().flat_map(|&at| &needed_by[at]) {
            unmet[at] -= 1;
            if unmet[at] == 0 {
                next.push(at);
            }
        }
        next.sort_unstable();
        waves.push(std::mem::replace(&mut wave, next));
    }
    let rest: Vec<usize> = (0..needs.len()).filter(|&at| unmet[at] > 0).collect();
    if !rest.is_empty() {
        waves.push(rest);
    }
    waves
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(needs: &[&[usize]], want: &[&[usize]]) {
        let needs: Vec<Vec<usize>> = needs.iter().map(|of| of.to_vec()).collect();
        assert_eq!(waves(&needs), want);
    }

    #[test]
    fn everything_comes_right_after_what_it_needs() {
        check(&[], &[]);
        check(&[&[], &[], &[]], &[&[0, 1, 2]]);
        check(&[&[2], &[], &[1]], &[&[1], &[2], &[0]]);
        // The longest way counts, and who needs little comes early, wherever it stands.
        check(&[&[3, 1], &[3], &[], &[], &[2, 0]], &[&[2, 3], &[1], &[0], &[4]]);
        // A diamond; a need that is named twice is one.
        check(&[&[1, 2, 1], &[3, 3], &[3], &[]], &[&[3], &[1, 2], &[0]]);
    }

    #[test]
    fn circles_come_last_and_nothing_is_lost() {
        check(&[&[0]], &[&[0]]);
        check(&[&[1], &[2], &[1], &[]], &[&[3], &[0, 1, 2]]);
        check(&[&[7], &[0]], &[&[0], &[1]]);
    }

    #[test]
    fn a_long_chain_is_as_many_waves() {
        let chain: Vec<Vec<usize>> =
            (0..100_000_usize).map(|at| at.checked_sub(1).into_iter().collect()).collect();
        assert_eq!(waves(&chain).len(), 100_000);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_wave_is_the_first_that_may_be(
            needs in (1..30_usize).prop_flat_map(|count| (0..count)
                .map(|at| prop::collection::vec(0..at.max(1), 0..4).prop_map(move |mut needs| {
                    needs.retain(|&other| other < at);
                    needs
                }))
                .collect::<Vec<_>>()),
        ) {
            let waves = waves(&needs);
            let mut wave_of = vec![usize::MAX; needs.len()];
            for (wave, members) in waves.iter().enumerate() {
                prop_assert!(members.is_sorted() && !members.is_empty());
                members.iter().for_each(|&at| wave_of[at] = wave);
            }
            prop_assert_eq!(waves.iter().map(Vec::len).sum::<usize>(), needs.len());
            for (at, needs_of) in needs.iter().enumerate() {
                let first = needs_of.iter().map(|&other| wave_of[other] + 1).max().unwrap_or(0);
                prop_assert_eq!(wave_of[at], first);
            }
        }
    }
}
