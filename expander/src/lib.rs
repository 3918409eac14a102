//! Runs templates that nobody trusts, and drives expansions to their end.
//!
//! Templates never run in the process that serves. [`Pool`] keeps two workers (`formwork-expander`), each of which forks
//! a jailed child for every Python call; Jinja runs in children of the same kind that are kept for many calls, because
//! its instructions can be counted but its memory cannot. What comes back is treated as hostile.
