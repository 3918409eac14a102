//! The control socket: packets, and the descriptors that travel with them.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use protocol::{Notice, Order, Unreadable};
use rustix::cmsg_space;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use tokio::io::Interest;
use tokio::net::UnixDatagram;

/// Longer than any packet, so that one that is too long shows.
const BUFFER: usize = 64;

/// Our end of a control socket. It keeps the bounds of packets as datagrams do, and tells of the other end's death as
/// streams do; of the type that holds it, only the waiting is used.
pub(super) struct Control(UnixDatagram);

/// Why nothing more can be heard or said.
#[derive(Debug, thiserror::Error)]
pub(super) enum ControlError {
    /// The socket.
    #[error("its control socket: {0}")]
    Socket(#[from] io::Error),
    /// What came over it.
    #[error("it sent {0}")]
    Unreadable(#[from] Unreadable),
}

/// Both ends: ours, and the one that becomes a worker's standard input.
pub(super) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = SocketFlags::CLOEXEC;
    Ok(socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?)
}

impl Control {
    pub(super) fn new(socket: OwnedFd) -> io::Result<Self> {
        let socket = std::os::unix::net::UnixDatagram::from(socket);
        socket.set_nonblocking(true)?;
        Ok(Self(UnixDatagram::from_std(socket)?))
    }

    /// Sends an order whole or not at all.
    pub(super) async fn send(
        &self,
        order: Order,
        channel: Option<BorrowedFd<'_>>,
    ) -> io::Result<()> {
        let packet = order.encode();
        self.0.async_io(Interest::WRITABLE, || send(&self.0, &packet, channel)).await
    }

    /// The next notice with the descriptor that came along; none when the worker is gone.
    pub(super) async fn receive(&self) -> Result<Option<(Notice, Option<OwnedFd>)>, ControlError> {
        let (packet, passed) = self.0.async_io(Interest::READABLE, || receive(&self.0)).await?;
        if packet.is_empty() {
            return Ok(None);
        }
        Ok(Some((Notice::decode(&packet)?, passed)))
    }
}

/// Sends a packet, and a descriptor with it.
pub(super) fn send(
    socket: impl AsFd,
    packet: &[u8],
    channel: Option<BorrowedFd<'_>>,
) -> io::Result<()> {
    let channel = channel.as_slice();
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut passed = SendAncillaryBuffer::new(&mut space);
    if !channel.is_empty() {
        let fits = passed.push(SendAncillaryMessage::ScmRights(channel));
        debug_assert!(fits, "there is room for one descriptor");
    }
    sendmsg(socket, &[IoSlice::new(packet)], &mut passed, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// The next packet and what came along; an empty one is the end.
pub(super) fn receive(socket: impl AsFd) -> io::Result<(Vec<u8>, Option<OwnedFd>)> {
    let mut packet = [0; BUFFER];
    // Room for one: the kernel closes whatever else somebody tries to pass.
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut passed = RecvAncillaryBuffer::new(&mut space);
    let mut slices = [IoSliceMut::new(&mut packet)];
    let flags = RecvFlags::CMSG_CLOEXEC;
    let length = match recvmsg(socket, &mut slices, &mut passed, flags) {
        Ok(received) => received.bytes,
        // A worker that died with orders unread.
        Err(rustix::io::Errno::CONNRESET) => 0,
        Err(error) => return Err(error.into()),
    };
    let mut descriptors = passed.drain().flat_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => descriptors.collect(),
        _ => Vec::new(),
    });
    let passed = descriptors.next();
    drop(descriptors);
    Ok((packet[..length].to_vec(), passed))
}
