//! Several replicas behind one Service, on one etcd: to clients they are one store, whatever happens to any of them.

mod account;
mod alternation;
mod counters;
mod follow;
mod history;
mod outages;
mod pages;
mod pair;
mod restarts;
mod size;
