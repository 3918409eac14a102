//! How the serving authority is replaced without a moment in which a client distrusts the server,
//! as a pure function of what is stored, what is published, and the time.
//!
//! ```text
//!  Steady ──introduce──▶ Introducing ──switch──▶ Retiring ──retire──▶ Steady
//!  trusted: current      current + next          current + previous
//!  signs:   current      current                 current, which was next
//! ```
//!
//! Both waits are fixed times. Clients learn of a change of `caBundle` through watches that they
//! acknowledge to nobody, so [`Timing::propagation`] counts from the moment at which every
//! APIService was seen to carry the new certificate. Replicas sign anew when their watch shows the
//! switch, and a replica that has not seen the Secret for [`Timing::stale`] is not ready, so after
//! [`Timing::retirement`] nobody is sent to one that still shows the old certificate.
//!
//! Every replica may take every step: it is written only over the state that it was planned for,
//! and of several writers one wins. There is no leader.

use std::time::Duration;

use anyhow::{Result, ensure};
use jiff::Timestamp;

use crate::certificates::Authority;

/// How long everything takes.
///
/// The defaults are cert-manager's habit of renewing at two thirds of the lifetime, and waits that
/// are long because nobody waits for them.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// How long an authority is valid; it is replaced at two thirds of it. A year.
    pub authority: Duration,
    /// How long a replica's certificate is valid; it is signed anew at two thirds of it. A month.
    pub serving: Duration,
    /// From when all APIServices carry a new certificate to when it may be used. 5 minutes.
    pub propagation: Duration,
    /// From when the new authority signs to when the old one is no longer trusted. 15 minutes.
    pub retirement: Duration,
    /// How long a replica is ready that cannot read the Secret; well below `retirement`. 5 minutes.
    pub stale: Duration,
    /// How often everything is looked at if nothing happens. 30 seconds.
    pub resync: Duration,
}

impl Timing {
    /// How long an authority is valid, and how long a change of it takes to reach all who are to
    /// know: the rest follows. It keeps the order that makes a rotation safe, see [`plan`].
    ///
    /// # Errors
    /// When a rotation would not be over before the old authority is: it begins when a third of the
    /// life is left, and takes four times as long as a change.
    pub fn new(authority: Duration, propagation: Duration) -> Result<Self> {
        const AT_LEAST: Duration = Duration::from_secs(1);
        ensure!(propagation >= AT_LEAST, "nobody learns of an authority in {propagation:?}");
        ensure!(
            authority >= propagation.saturating_mul(12),
            "an authority has to be valid for twelve times as long as others take to learn of it: \
             {authority:?} is too short for {propagation:?}"
        );
        const AT_MOST: Duration = Duration::from_secs(30);
        Ok(Self {
            authority,
            serving: authority / 12,
            propagation,
            retirement: propagation * 3,
            stale: propagation,
            resync: AT_MOST.min(propagation / 4),
        })
    }
}

impl Default for Timing {
    fn default() -> Self {
        const MINUTE: Duration = Duration::from_secs(60);
        const DAY: Duration = MINUTE.saturating_mul(24 * 60);
        Self::new(DAY * 365, MINUTE * 5).expect("a year is long enough")
    }
}

/// What all replicas share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State {
    /// The authority that signs.
    pub(super) current: Authority,
    pub(super) phase: Phase,
    /// Somebody asked for a rotation, which has not begun.
    pub(super) requested: bool,
}

/// Where a rotation is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Steady,
    Introducing {
        next: Authority,
        /// Since when every APIService carries the next certificate.
        published: Option<Timestamp>,
    },
    Retiring {
        /// The certificate alone: its key is forgotten.
        previous: String,
        /// Since when it signs no more.
        since: Timestamp,
    },
}

/// What is to be done to the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing before this moment, unless something else changes.
    Wait(Timestamp),
    /// Make the next authority, and trust it.
    Introduce,
    /// Note that all APIServices carry it.
    Published,
    /// Note that they no longer do.
    Withdrawn,
    /// Sign with it.
    Switch,
    /// Trust the previous one no more.
    Retire,
    /// The current authority has expired, and with it whatever it signed: there is nothing to
    /// save, and a new one takes its place at once.
    Replace,
}

impl State {
    /// A first authority.
    pub(super) fn first(now: Timestamp, timing: &Timing) -> Result<Self> {
        Ok(Self { current: generate(now, timing)?, phase: Phase::Steady, requested: false })
    }

    /// The certificates that clients have to trust, in PEM, one after the other.
    pub(super) fn bundle(&self) -> String {
        let current = &self.current.certificate;
        match &self.phase {
            Phase::Steady => current.clone(),
            Phase::Introducing { next, .. } => format!("{current}{}", next.certificate),
            Phase::Retiring { previous, .. } => format!("{current}{previous}"),
        }
    }

    /// The state after `step`.
    ///
    /// # Errors
    /// When an authority cannot be made.
    pub(super) fn after(&self, step: Step, now: Timestamp, timing: &Timing) -> Result<Self> {
        let mut state = self.clone();
        match (step, &self.phase) {
            (Step::Introduce, _) => {
                let next = generate(now, timing)?;
                state.phase = Phase::Introducing { next, published: None };
                state.requested = false;
            }
            (Step::Replace, _) => state = Self::first(now, timing)?,
            (Step::Published, Phase::Introducing { next, .. }) => {
                state.phase = Phase::Introducing { next: next.clone(), published: Some(now) };
            }
            (Step::Withdrawn, Phase::Introducing { next, .. }) => {
                state.phase = Phase::Introducing { next: next.clone(), published: None };
            }
            (Step::Switch, Phase::Introducing { next, .. }) => {
                let previous = self.current.certificate.clone();
                state.current = next.clone();
                state.phase = Phase::Retiring { previous, since: now };
            }
            (Step::Retire, Phase::Retiring { .. }) => state.phase = Phase::Steady,
            // A step of another phase than it was planned for changes nothing.
            (
                Step::Wait(_) | Step::Published | Step::Withdrawn | Step::Switch | Step::Retire,
                _,
            ) => {}
        }
        Ok(state)
    }
}

/// The next step. `carried` says whether every APIService that is ours carries [`State::bundle`].
pub(super) fn plan(state: &State, carried: bool, now: Timestamp, timing: &Timing) -> Step {
    let expired = |authority: &Authority| authority.not_after <= now;
    match &state.phase {
        Phase::Introducing { next, .. } if expired(next) => Step::Introduce,
        Phase::Introducing { .. } if expired(&state.current) => Step::Switch,
        _ if expired(&state.current) => Step::Replace,
        Phase::Steady => {
            let due = renewal(&state.current, timing);
            if state.requested || due <= now { Step::Introduce } else { Step::Wait(due) }
        }
        Phase::Introducing { published: None, .. } if carried => Step::Published,
        Phase::Introducing { published: None, .. } => Step::Wait(state.current.not_after),
        Phase::Introducing { published: Some(_), .. } if !carried => Step::Withdrawn,
        Phase::Introducing { published: Some(published), .. } => {
            when(after(*published, timing.propagation), now, Step::Switch)
        }
        Phase::Retiring { since, .. } => when(after(*since, timing.retirement), now, Step::Retire),
    }
}

/// The moment at which an authority is replaced: when a third of the life that it was to have is
/// left. Its certificate holds for longer than that, since it begins in the past, and a short life
/// would be over before it began.
fn renewal(authority: &Authority, timing: &Timing) -> Timestamp {
    let valid = authority.not_after.duration_since(authority.not_before).unsigned_abs();
    let life = timing.authority.min(valid);
    authority.not_after.saturating_sub(life / 3).unwrap_or(authority.not_before)
}

/// The moment at which two thirds of the time between both have passed.
pub(super) fn two_thirds(from: Timestamp, to: Timestamp) -> Timestamp {
    let life = to.duration_since(from);
    from.saturating_add(life * 2 / 3).unwrap_or(to)
}

fn after(moment: Timestamp, duration: Duration) -> Timestamp {
    moment.saturating_add(duration).unwrap_or(Timestamp::MAX)
}

fn when(moment: Timestamp, now: Timestamp, step: Step) -> Step {
    if moment <= now { step } else { Step::Wait(moment) }
}

/// An authority with a name of its own: a chain is looked up by names first, and two authorities
/// of one name in one bundle would be tried in turn.
fn generate(now: Timestamp, timing: &Timing) -> Result<Authority> {
    let name = format!("formwork-serving-ca@{}", now.as_second());
    Authority::generate(&name, now, timing.authority)
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::constant(1_800_000_000, 0);
    const SECOND: Duration = Duration::from_secs(1);

    fn timing() -> Timing {
        Timing::default()
    }

    fn steady() -> State {
        State::first(START, &timing()).unwrap()
    }

    fn step(state: &State, step: Step, now: Timestamp) -> State {
        state.after(step, now, &timing()).unwrap()
    }

    #[track_caller]
    fn check(state: &State, carried: bool, now: Timestamp, want: Step) {
        assert_eq!(plan(state, carried, now, &timing()), want);
    }

    fn introducing() -> State {
        step(&steady(), Step::Introduce, START)
    }

    #[test]
    fn an_authority_is_replaced_at_two_thirds_of_its_life_or_when_asked() {
        let mut state = steady();
        let due = renewal(&state.current, &timing());
        assert!(due.duration_since(START).as_hours() / 24 >= 243);
        check(&state, true, START, Step::Wait(due));
        check(&state, true, due, Step::Introduce);
        // Nobody carries the bundle yet: the next one is introduced no later for it.
        check(&state, false, due, Step::Introduce);
        state.requested = true;
        check(&state, true, START, Step::Introduce);
        assert!(!step(&state, Step::Introduce, START).requested);
    }

    #[test]
    fn a_rotation_is_over_before_the_old_authority_is() {
        let timing = Timing::new(SECOND * 36, SECOND * 3).unwrap();
        assert!(timing.propagation + timing.retirement <= timing.authority / 3);
        assert!(Timing::new(SECOND * 35, SECOND * 3).is_err());
        assert!(Timing::new(SECOND * 35, Duration::ZERO).is_err());
    }

    #[test]
    fn an_authority_with_a_short_life_lives_it() {
        let short = Timing::new(SECOND * 90, SECOND * 3).unwrap();
        let state = State::first(START, &short).unwrap();
        let due = START + SECOND * 60;
        assert_eq!(plan(&state, true, START, &short), Step::Wait(due));
        assert_eq!(plan(&state, true, due, &short), Step::Introduce);
        // With other flags the one that is there is still renewed in time.
        assert_eq!(plan(&state, true, due, &timing()), Step::Introduce);
    }

    #[test]
    fn a_new_authority_signs_when_all_have_long_carried_it() {
        let state = introducing();
        check(&state, false, START, Step::Wait(state.current.not_after));
        check(&state, true, START, Step::Published);
        let state = step(&state, Step::Published, START);
        let wanted = START + timing().propagation;
        check(&state, true, START, Step::Wait(wanted));
        check(&state, true, wanted - SECOND, Step::Wait(wanted));
        check(&state, true, wanted, Step::Switch);
    }

    #[test]
    fn a_bundle_that_was_withdrawn_propagates_anew() {
        let state = step(&introducing(), Step::Published, START);
        let later = START + timing().propagation;
        check(&state, false, later, Step::Withdrawn);
        let state = step(&state, Step::Withdrawn, later);
        check(&state, true, later, Step::Published);
        let state = step(&state, Step::Published, later);
        check(&state, true, later, Step::Wait(later + timing().propagation));
    }

    #[test]
    fn the_old_authority_is_trusted_until_every_replica_has_switched() {
        let before = step(&introducing(), Step::Published, START);
        let state = step(&before, Step::Switch, START);
        let Phase::Introducing { next, .. } = &before.phase else { panic!("{before:?}") };
        assert_eq!(&state.current, next);
        for trusted in [&before.current.certificate, &next.certificate] {
            assert!(before.bundle().contains(trusted) && state.bundle().contains(trusted));
        }
        let end = START + timing().retirement;
        check(&state, true, end - SECOND, Step::Wait(end));
        check(&state, false, end, Step::Retire);
        let state = step(&state, Step::Retire, end);
        assert_eq!(state.bundle(), next.certificate);
        assert_eq!(state.phase, Phase::Steady);
    }

    #[test]
    fn a_rotation_asked_for_during_another_follows_it() {
        let mut state = step(&introducing(), Step::Published, START);
        state.requested = true;
        let switched = START + timing().propagation;
        check(&state, true, switched, Step::Switch);
        let state = step(&state, Step::Switch, switched);
        let retired = switched + timing().retirement;
        check(&state, true, retired, Step::Retire);
        let state = step(&state, Step::Retire, retired);
        check(&state, true, retired, Step::Introduce);
    }

    #[test]
    fn what_has_expired_is_replaced_without_waiting() {
        let state = steady();
        let end = state.current.not_after;
        check(&state, true, end, Step::Replace);
        assert_ne!(step(&state, Step::Replace, end).current, state.current);
        // In the middle of a rotation the next authority is there already, and still valid.
        let late = end - SECOND;
        let state = step(&step(&state, Step::Introduce, late), Step::Published, late);
        check(&state, false, end, Step::Switch);
        let Phase::Introducing { next, .. } = &state.phase else { panic!("{state:?}") };
        check(&state, true, next.not_after, Step::Introduce);
        let state = step(&state, Step::Switch, end);
        check(&state, true, state.current.not_after, Step::Replace);
    }

    #[test]
    fn a_step_of_another_phase_changes_nothing() {
        let state = steady();
        for other in [Step::Published, Step::Withdrawn, Step::Switch, Step::Retire] {
            assert_eq!(step(&state, other, START), state);
        }
    }

    #[test]
    fn a_replica_that_lags_is_not_ready_long_before_the_old_authority_goes() {
        let timing = timing();
        assert!(timing.stale * 2 <= timing.retirement);
        assert!(timing.resync * 2 <= timing.stale);
        assert!(timing.serving * 3 < timing.authority);
    }
}
