//! What stands on what: an order in which everything comes after what it needs, or the circles that there are.

/// As many circles as are named at once.
const CIRCLES: usize = 10;

/// Puts `needs.len()` things in an order in which each comes after those that it needs, by their positions.
///
/// # Errors
/// The circles that were found, each from its first member to the one before that comes again; at most ten, the earliest
/// ones first.
pub(crate) fn order(needs: &[Vec<usize>]) -> Result<Vec<usize>, Vec<Vec<usize>>> {
    let mut state = vec![State::New; needs.len()];
    let (mut order, mut circles) = (Vec::with_capacity(needs.len()), Vec::new());
    for start in 0..needs.len() {
        // The way from `start`: where, and how many of its needs were looked at. A list, as it may be long.
        let mut way = Vec::new();
        enter(start, &mut state, &mut way);
        while let Some((at, looked)) = way.last_mut() {
            let Some(&next) = needs[*at].get(*looked) else {
                state[*at] = State::Done;
                order.push(*at);
                way.pop();
                continue;
            };
            *looked += 1;
            if state[next] == State::OnTheWay && circles.len() < CIRCLES {
                let from = way.iter().position(|&(at, _)| at == next).unwrap_or_default();
                circles.push(way[from..].iter().map(|&(at, _)| at).collect());
            }
            enter(next, &mut state, &mut way);
        }
    }
    if circles.is_empty() { Ok(order) } else { Err(circles) }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    OnTheWay,
    Done,
}

fn enter(at: usize, state: &mut [State], way: &mut Vec<(usize, usize)>) {
    if state[at] == State::New {
        state[at] = State::OnTheWay;
        way.push((at, 0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_comes_after_what_it_needs() {
        assert_eq!(order(&[]), Ok(vec![]));
        assert_eq!(order(&[vec![2, 1], vec![2], vec![], vec![0]]), Ok(vec![2, 1, 0, 3]));
    }

    #[test]
    fn circles_are_named_from_their_first_member() {
        assert_eq!(order(&[vec![0]]), Err(vec![vec![0]]));
        assert_eq!(order(&[vec![1], vec![2], vec![1, 3], vec![]]), Err(vec![vec![1, 2]]));
        assert_eq!(order(&[vec![1], vec![0], vec![3], vec![2]]), Err(vec![vec![0, 1], vec![2, 3]]));
        let pairs: Vec<_> = (0..100).map(|at: usize| vec![at ^ 1]).collect();
        assert_eq!(order(&pairs).map_err(|circles| circles.len()), Err(10));
    }

    #[test]
    fn a_long_way_costs_no_stack() {
        let chain: Vec<_> = (0..200_000_usize)
            .map(|at| (at < 199_999).then_some(at + 1).into_iter().collect())
            .collect();
        assert_eq!(order(&chain).map(|order| order.len()), Ok(200_000));
    }
}
