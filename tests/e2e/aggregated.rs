//! Formwork as part of a real cluster: what users of kubectl and the cluster's own controllers meet through
//! kube-apiserver.

mod absence;
mod commands;
mod dialect;
mod discovery;
mod expansions;
mod garbage;
mod namespaces;
mod registration;
mod users;
