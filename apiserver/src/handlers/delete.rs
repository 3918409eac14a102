//! DELETE of one object, and the options that deletions carry.

use http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};

use super::Call;
use crate::codec::{Warnings, body};
use crate::field::{self, quote};
use crate::limits::Body;
use crate::options::{dry_run, parse_uint, refuse};
use crate::request::Query;
use crate::response::Response;
use crate::status::{Details, Error};
use crate::store::{Deleted, Preconditions, Propagation};

/// `DeleteOptions`, checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DeleteOptions {
    pub(super) dry_run: bool,
    pub(super) preconditions: Preconditions,
    pub(super) propagation: Propagation,
    /// The client asked in so many words that dependents be deleted.
    adopted: bool,
}

/// `DeleteOptions` as they come.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Wire {
    dry_run: Option<Vec<String>>,
    orphan_dependents: Option<bool>,
    propagation_policy: Option<String>,
    preconditions: Option<WirePreconditions>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WirePreconditions {
    uid: Option<String>,
    resource_version: Option<String>,
}

impl Call<'_> {
    /// Deletes a stored object, or marks it.
    pub(super) async fn delete(&self, body: Body) -> Result<Response, Error> {
        let accepted = self.accepted()?;
        self.info.required_name()?;
        let options = self.delete_options(body).await?;
        let cx = self.context(options.dry_run, crate::resource::FieldValidation::Warn);
        let Deleted { object, gone } = self
            .store
            .delete(self.resource, &cx, &options.preconditions, options.propagation)
            .await?;
        // The one case in which the answer says that something is still to come.
        let status = if !gone && options.adopted { StatusCode::ACCEPTED } else { StatusCode::OK };
        let warnings = Warnings::default();
        let returns_object =
            !gone || self.resource.strategy().is_some_and(|strategy| strategy.returns_deleted());
        if returns_object {
            return self.answer_object(status, accepted, &object, &warnings);
        }
        let definition = &self.resource.definition;
        let details = Details {
            name: object.meta.name,
            group: definition.group.to_owned(),
            kind: definition.plural.to_owned(),
            uid: object.meta.uid,
            ..Details::default()
        };
        let success = serde_json::to_vec(&Success::new(&details)).map_err(Error::internal)?;
        self.respond(status, accepted, success, &warnings)
    }

    /// The options of a deletion: from the body, or from the query when there is none.
    pub(super) async fn delete_options(&self, body: Body) -> Result<DeleteOptions, Error> {
        let text = read_options(self.headers, body).await?;
        let wire = match text {
            None => Wire::from_query(&self.info.query)?,
            Some(text) => {
                self.audit_body(&text);
                self.decode_options(&text)?
            }
        };
        wire.check()
    }

    fn decode_options(&self, text: &str) -> Result<Wire, Error> {
        let schema = schema::meta::delete_options();
        let decoded =
            schema::decode(&schema, text, schema::Limits::default()).map_err(|error| {
                let why = match error.is_unrecognized() {
                    true => format!("couldn't get version/kind; json parse error: {error}"),
                    false => error.to_string(),
                };
                Error::bad_request(why)
            })?;
        let kind = decoded.kind.as_deref().unwrap_or("DeleteOptions");
        let own = self.resource.definition.api_version();
        let api_version = decoded.api_version.as_deref().unwrap_or("v1");
        let known = ["v1", "meta.k8s.io/v1", own.as_str()];
        if kind != "DeleteOptions" || !known.contains(&api_version) {
            return Err(Error::bad_request(format!(
                "no kind {kind:?} is registered for version {api_version:?} in scheme \"pkg/runtime/scheme.go:110\""
            )));
        }
        let mut wire: Wire = serde_json::from_str(&format!("{{{}}}", decoded.fields))
            .map_err(|error| Error::bad_request(error.to_string()))?;
        // A dry run that is asked for in the query stays one, whatever the body says.
        let asked = self.info.query.all("dryRun").map(str::to_owned);
        wire.dry_run.get_or_insert_default().extend(asked);
        Ok(wire)
    }
}

/// The body as JSON text; none when it is empty.
async fn read_options(headers: &HeaderMap, body: Body) -> Result<Option<String>, Error> {
    if http_body::Body::is_end_stream(&body) {
        return Ok(None);
    }
    let text = body::read("DeleteOptions", headers, body).await?;
    Ok(Some(text.json).filter(|text| !text.is_empty()))
}

impl Wire {
    fn from_query(query: &Query) -> Result<Self, Error> {
        query.integer("gracePeriodSeconds")?;
        Ok(Self {
            dry_run: Some(query.all("dryRun").map(str::to_owned).collect()),
            orphan_dependents: query.optional_flag("orphanDependents"),
            propagation_policy: query.get("propagationPolicy").map(str::to_owned),
            preconditions: None,
        })
    }

    fn check(self) -> Result<DeleteOptions, Error> {
        let path = "propagationPolicy";
        let mut errors = Vec::new();
        if let (Some(policy), Some(_)) = (&self.propagation_policy, self.orphan_dependents) {
            let why = "orphanDependents and deletionPropagation cannot be both set";
            errors.push(field::Error::invalid(path, quote(policy), why));
        }
        let propagation = match (self.propagation_policy.as_deref(), self.orphan_dependents) {
            (Some("Orphan"), _) | (None, Some(true)) => Propagation::Orphan,
            (Some("Background"), _) => Propagation::Background,
            (Some("Foreground"), _) => Propagation::Foreground,
            // Says not to orphan, and nothing about the order.
            (None, Some(false)) => Propagation::Background,
            (None, None) => Propagation::Unset,
            (Some(other), _) => {
                let supported = ["Foreground", "Background", "Orphan", "nil"];
                errors.push(field::Error::not_supported(path, quote(other), &supported));
                Propagation::Unset
            }
        };
        let values = self.dry_run.unwrap_or_default();
        let dry_run = dry_run(values.iter().map(String::as_str), &mut errors);
        refuse("DeleteOptions", &errors)?;
        let preconditions = self.preconditions.unwrap_or_default();
        if let Some(version) = &preconditions.resource_version {
            parse_uint(version).map_err(|why| {
                let version = quote(version);
                Error::bad_request(format!("strconv.ParseUint: parsing {version}: {why}"))
            })?;
        }
        Ok(DeleteOptions {
            dry_run,
            preconditions: Preconditions {
                uid: preconditions.uid,
                resource_version: preconditions.resource_version,
            },
            propagation,
            adopted: self.orphan_dependents == Some(false),
        })
    }
}

/// The `Status` of a deletion that leaves nothing to show.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Success<'a> {
    kind: &'static str,
    api_version: &'static str,
    metadata: serde_json::Map<String, serde_json::Value>,
    status: &'static str,
    details: &'a Details,
}

impl<'a> Success<'a> {
    fn new(details: &'a Details) -> Self {
        Self {
            kind: "Status",
            api_version: "v1",
            metadata: serde_json::Map::new(),
            status: "Success",
            details,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(query: &str) -> Result<DeleteOptions, Error> {
        Wire::from_query(&Query::parse(query))?.check()
    }

    #[test]
    fn policies_are_read_and_others_refused() {
        assert_eq!(check("propagationPolicy=Orphan").unwrap().propagation, Propagation::Orphan);
        assert_eq!(check("orphanDependents=true").unwrap().propagation, Propagation::Orphan);
        assert_eq!(check("").unwrap(), DeleteOptions::default());
        let error = check("propagationPolicy=x").unwrap_err();
        assert_eq!(
            error.message(),
            "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported value: \"x\": supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\""
        );
        assert!(check("propagationPolicy=Orphan&orphanDependents=true").is_err());
    }
}
