//! Files that belong to no registry: any URL on a host that is allowed, asked without a credential.

use http::Uri;

use crate::fetch::client::{Ask, Form};
use crate::fetch::counted::Counted;

/// The text of a file; none when there is none.
pub(super) async fn text(client: &Counted<'_>, url: &Uri) -> Result<Option<String>, String> {
    client.get(url, Ask { form: Form::File, credential: None, within: None }).await
}

/// Where a file is, for people: a URL without a query, since its end says what language a template is in.
pub(super) fn shown(url: &Uri) -> String {
    let text = url.to_string();
    text.split_once('?').map_or_else(|| text.clone(), |(text, _)| text.to_owned())
}
