//! A server that has no file descriptors left: it waits, and goes on when there are some again.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use ::tests::kubectl::Kubectl;
use ::tests::server::Server;
use anyhow::{Result, ensure};

#[test]
fn a_server_out_of_files_waits_and_then_serves_on() -> Result<()> {
    let server = Server::start()?;
    let kubectl = Kubectl::of(&server.kubeconfig())?;
    kubectl.ok(&["get", "templates"])?;
    server.leave_files(4)?;
    let begun = Instant::now();
    let crowd = (0..50)
        .map(|_| TcpStream::connect(server.authority()))
        .collect::<std::io::Result<Vec<_>>>()?;
    let complaints = || server.log().matches("cannot accept connections").count();
    while complaints() == 0 {
        ensure!(begun.elapsed() < Duration::from_secs(30), "it never ran out: {}", server.log());
        std::thread::sleep(Duration::from_millis(20));
    }
    let complained = complaints();
    // At most five tries a second, and one that was under way.
    let most = usize::try_from(begun.elapsed().as_millis() / 200)? + 2;
    ensure!(complained <= most, "it does not wait: {}", server.log());
    drop(crowd);
    kubectl.ok(&["get", "templates"])?;
    Ok(())
}
