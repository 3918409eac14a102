//! A server that is part of a cluster: kube-apiserver forwards requests to it, and says who users are
//! and what they may do.

mod client;
mod files;
mod identity;
mod registration;

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use anyhow::Result;
use apiserver::admission::{Admission, NamespaceLifecycle, Namespaces};

use crate::args::{Serve, Uninstall};
use crate::engine::Engine;
use crate::foundation::Foundation;
use crate::groups::groups;
use crate::register::{self, GroupVersion, Registration};

/// Every address of the machine, of both families.
const EVERYWHERE: IpAddr = IpAddr::V6(Ipv6Addr::UNSPECIFIED);

/// Serves until the process is told to stop.
///
/// # Errors
/// Whatever keeps the server from starting, with what was being done.
pub(crate) async fn serve(serve: &Serve) -> Result<()> {
    let client = client::connect(serve.kubeconfig.as_deref()).await?;
    let foundation = Foundation::lay(serve).await?;
    let authentication = identity::authentication(serve, &client, &foundation)?;
    let authorizer = identity::authorizer(serve, &client, &foundation);
    let namespaces = Namespaces::new(client.clone());
    namespaces.report(&foundation.health);
    tokio::spawn(namespaces.clone().follow());
    let admission = Admission::new(vec![Box::new(NamespaceLifecycle::new(namespaces.clone()))]);
    let registration = Registration::start(&client, registration::options(serve)?).await?;
    registration.add_check(&foundation.health);

    let api = foundation.api(admission);
    let chain = foundation.chain(authentication.clone(), authorizer, Arc::new(api));
    let listener = foundation.listen(EVERYWHERE).await?;
    // Whoever asked before would be anonymous, and no namespace would exist.
    tokio::join!(authentication.ready(), namespaces.ready());
    // From here on connections are taken, and answered as soon as this is done.
    registration.publish();
    foundation.serve(chain, registration.certificate(), listener).await
}

/// Takes the server out of the cluster, and says what became of each APIService.
///
/// # Errors
/// When the cluster cannot be asked, or refuses.
pub(crate) async fn uninstall(uninstall: &Uninstall) -> Result<()> {
    let client = client::connect(uninstall.kubeconfig.as_deref()).await?;
    let service = registration::service(&uninstall.service);
    let served = GroupVersion::all(&groups(&Engine::absent()));
    for done in register::uninstall(&client, &service, &served).await? {
        println!("{done}");
    }
    Ok(())
}
