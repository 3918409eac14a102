//! The body of a watch: it lasts until the client goes, the handler ends it, or the server stops.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::future::BoxFuture;
use http_body::Frame;

use crate::metrics::Open;
use crate::stop::{Phase, Stop};

use super::audited::Watched;
use crate::response::ResponseBody;

/// A stream of events that ends when the server stops, as if the handler had ended it: the client
/// sees a complete answer and comes back elsewhere.
struct Watch {
    events: ResponseBody,
    stop: BoxFuture<'static, ()>,
    server: Arc<Stop>,
    _open: Open,
    _audited: Option<Watched>,
}

pub(super) fn until_stop(
    events: ResponseBody,
    open: Open,
    audited: Option<Watched>,
    server: &Arc<Stop>,
) -> ResponseBody {
    server.watch_begins();
    let draining = server.reached(Phase::Draining);
    let turn = server.clone();
    let stop = Box::pin(async move {
        draining.await;
        tokio::time::sleep(turn.next_watch_ends_after()).await;
    });
    ResponseBody::new(Watch {
        events,
        stop,
        server: server.clone(),
        _open: open,
        _audited: audited,
    })
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.server.watch_is_over();
    }
}

impl http_body::Body for Watch {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        // While serving, the stop is looked at only when there is nothing to send, as the look
        // costs more than an event; while draining it comes first, or a busy watch would not end.
        let draining = self.server.phase() == Phase::Draining;
        if draining && self.stop.as_mut().poll(cx).is_ready() {
            return Poll::Ready(None);
        }
        match Pin::new(&mut self.events).poll_frame(cx) {
            Poll::Pending if !draining => self.stop.as_mut().poll(cx).map(|()| None),
            frame => frame,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.events.is_end_stream()
    }
}
