//! The worker's end of the control socket: packets, and descriptors that travel with them.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use protocol::{Notice, Order};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// Longer than any packet, so that one that is too long is seen to be.
const ROOM: usize = 64;

/// The socket.
pub(crate) struct Control(OwnedFd);

impl Control {
    pub(crate) fn new(socket: OwnedFd) -> Self {
        Self(socket)
    }

    /// For waiting until there is an order.
    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// The next order and the descriptor that came along. `None`: the expander is gone.
    ///
    /// # Errors
    /// When the packet is none of ours; there is nobody to reason with then.
    pub(crate) fn receive(&self) -> io::Result<Option<(Order, Option<OwnedFd>)>> {
        let mut packet = [0; ROOM];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut along = RecvAncillaryBuffer::new(&mut space);
        let received = loop {
            let into = &mut [IoSliceMut::new(&mut packet)];
            match recvmsg(&self.0, into, &mut along, RecvFlags::CMSG_CLOEXEC) {
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => self.wait(PollFlags::IN)?,
                Err(Errno::CONNRESET) => return Ok(None),
                other => break other?.bytes,
            }
        };
        if received == 0 {
            return Ok(None);
        }
        let descriptor = along.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
            _ => None,
        });
        let order = Order::decode(&packet[..received]).map_err(io::Error::other)?;
        Ok(Some((order, descriptor)))
    }

    /// Sends a notice, and a descriptor with it.
    ///
    /// # Errors
    /// When the socket fails.
    pub(crate) fn send(&self, notice: Notice, along: Option<BorrowedFd<'_>>) -> io::Result<()> {
        let packet = notice.encode();
        let descriptors: Vec<_> = along.into_iter().collect();
        loop {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut ancillary = SendAncillaryBuffer::new(&mut space);
            if !descriptors.is_empty() {
                ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
            }
            match sendmsg(&self.0, &[IoSlice::new(&packet)], &mut ancillary, SendFlags::NOSIGNAL) {
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => self.wait(PollFlags::OUT)?,
                // Nobody is left to be told. The next order says so too, and ends this process in good order.
                Err(Errno::PIPE | Errno::CONNRESET) => return Ok(()),
                sent => return Ok(sent.map(drop)?),
            }
        }
    }

    fn wait(&self, for_what: PollFlags) -> io::Result<()> {
        match poll(&mut [PollFd::new(&self.0, for_what)], None) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
