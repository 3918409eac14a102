//! A server that is part of a cluster: kube-apiserver forwards requests to it, and says who users are
//! and what they may do.

pub(crate) mod client;
pub(crate) mod files;
mod identity;
mod registration;

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use anyhow::Result;
use apiserver::admission::{NamespaceLifecycle, Namespaces};
use apiserver::environment::{Environment as _, System};
use kube::Client;

use crate::args::{Serve, Uninstall};
use crate::deployments::{self, Lease};
use crate::foundation::Foundation;
use crate::groups;
use crate::register::{self, GroupVersion, Registration};

/// The Lease of whoever carries out Deployments.
const LEASE: &str = "formwork-deployer";

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
    let registration = Registration::start(&client, registration::options(serve)?).await?;
    registration.add_check(&foundation.health);

    let lifecycle = Box::new(NamespaceLifecycle::new(namespaces.clone()));
    let (lease, workers) = (lease(serve, &client), serve.concurrent_deployment_syncs.get());
    let to = deployments::To { lease, workers, client: client.clone() };
    let (api, deployments) = foundation.api(vec![lifecycle], Some(to));
    let chain = foundation.chain(authentication.clone(), authorizer, Arc::new(api));
    let listener = foundation.listen(EVERYWHERE).await?;
    // Whoever asked before would be anonymous, and no namespace would exist.
    tokio::join!(authentication.ready(), namespaces.ready());
    // From here on connections are taken, and answered as soon as this is done.
    registration.publish();
    foundation.serve(chain, registration.certificate(), listener, deployments, None).await
}

/// By which one of several replicas finds out that it is the one that carries out Deployments.
fn lease(serve: &Serve, client: &Client) -> Option<Lease> {
    let namespace = &serve.registration.service.namespace;
    serve.leader_elect.then(|| Lease::new(client.clone(), namespace, LEASE, System.uid()))
}

/// Takes the server out of the cluster, and says what became of each APIService.
///
/// # Errors
/// When the cluster cannot be asked, or refuses.
pub(crate) async fn uninstall(uninstall: &Uninstall) -> Result<()> {
    let client = client::connect(uninstall.kubeconfig.as_deref()).await?;
    let service = registration::service(&uninstall.service);
    let served = GroupVersion::all(&groups::names());
    for done in register::uninstall(&client, &service, &served).await? {
        println!("{done}");
    }
    Ok(())
}
