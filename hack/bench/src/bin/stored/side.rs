//! One of the two ways to store the same objects.

use anyhow::Result;
use bench::body::Body;
use bench::client::{Connection, Order, Target};
use bench::load::{Limit, Outcome, drive};
use bench::process::Process;
use bench::watchers;

/// Where the objects go, in which form, and who is measured.
pub(crate) struct Side {
    /// What it is called in the table.
    pub(crate) name: &'static str,
    pub(crate) target: Target,
    /// The process that keeps the objects, whichever others a request passes.
    pub(crate) process: Process,
    pub(crate) collection: String,
    pub(crate) body: Body,
    /// How many objects there are.
    pub(crate) stored: usize,
}

impl Side {
    /// Creates `count` more objects.
    pub(crate) async fn create(
        &mut self,
        connections: &mut [Connection],
        limit: Limit,
    ) -> Result<Outcome> {
        let first = self.stored;
        let order = |number: usize| self.order(&format!("stored-{}", first + number));
        let outcome = drive(self.process, connections, limit, &order).await?;
        self.stored += outcome.latencies.len();
        Ok(outcome)
    }

    /// Reads single objects, each time another.
    pub(crate) async fn get(
        &self,
        connections: &mut [Connection],
        limit: Limit,
    ) -> Result<Outcome> {
        // A stride that is prime to any count of them, so that neighbours are not read after each other.
        let order = |number: usize| {
            let name = number * 7919 % self.stored;
            Order::get(format!("{}/stored-{name}", self.collection))
        };
        drive(self.process, connections, limit, &order).await
    }

    /// Lists the first 500.
    pub(crate) async fn list(
        &self,
        connections: &mut [Connection],
        limit: Limit,
    ) -> Result<Outcome> {
        let order = |_| Order::get(format!("{}?limit=500", self.collection));
        drive(self.process, connections, limit, &order).await
    }

    /// Tells `watchers` of `events` new objects.
    pub(crate) async fn watch(
        &self,
        watchers: usize,
        events: usize,
        round: usize,
    ) -> Result<Outcome> {
        let mut connection = self.target.connect().await?;
        watchers::fan_out(
            self.process,
            &self.target,
            &mut connection,
            &self.collection,
            watchers,
            events,
            &|number| self.order(&format!("watched-{round}-{number}")),
        )
        .await
    }

    fn order(&self, name: &str) -> Order {
        Order::post(self.collection.clone(), self.body.named(name))
    }
}
