//! A server of one kind, `Note`, with everything that the library gives every kind: storage, watch,
//! Tables, OpenAPI, discovery, validation, patches, a status. `cargo run -p apiserver --example minimal`

use std::sync::Arc;

use apiserver::api::Api;
use apiserver::authn::{Anonymous, StaticTokens, Union, User};
use apiserver::chain::{Chain, Parties};
use apiserver::environment::System;
use apiserver::object::Object;
use apiserver::openapi::Info;
use apiserver::resource::{ApiGroup, ApiVersion, Definition, Resource, Serves, Strategy};
use apiserver::resource::{Cell, Column};
use apiserver::schema::Schema;
use apiserver::storage::{Cache, Memory, cache};
use apiserver::{authz, field, server::Server, store::Store, tls, version::Version};

struct Notes;

impl Strategy for Notes {
    fn validate(&self, note: &Object) -> Vec<field::Error> {
        let silent = note.fields.get("text") == Some("\"\"");
        silent.then(|| field::Error::required("text", "say something")).into_iter().collect()
    }

    fn columns(&self) -> &'static [Column] {
        const { &[Column::text("Text", "What the note says.")] }
    }

    fn cells(&self, note: &Object) -> Vec<Cell> {
        let text = note.fields.get("text").and_then(|text| serde_json::from_str(text).ok());
        vec![text.unwrap_or_default()]
    }
}

fn notes() -> ApiGroup {
    let schema = Schema::object("com.example.v1.Note", "A Note is a line of text.")
        .required("text", Schema::string("What the note says."))
        .optional("status", Schema::opaque_object("What became of the note."));
    let definition = Definition::namespaced("example.com", "v1", "Note", "notes", schema);
    let notes = Resource::new(definition, Serves::Stored(Box::new(Notes))).with_status();
    let version = ApiVersion { name: "v1", resources: vec![notes.into()] };
    ApiGroup { name: "example.com", versions: vec![version] }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cache = Cache::start(Arc::new(Memory::new()), cache::Options::default()).await?;
    let store = Store::new(Arc::new(cache), Arc::new(System));
    let api = Api::new(vec![notes()], store, &Info::new("Notes", "v1"));

    let admin = User::authenticated("admin", vec!["system:masters".to_owned()]);
    let tokens = StaticTokens::new([("secret".to_owned(), admin)]);
    let authenticator = Union::new(vec![Box::new(tokens)], Anonymous::Refused);
    let authorizer = authz::Union::standalone();
    let chain = Chain::new(Parties::new(authenticator, authorizer, api, Version::new("v1.0.0")));

    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()])?;
    let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    let certificate = tls::ServingCertificate::from_pem(certificate.as_bytes(), key.as_bytes())?;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let server = format!("--server=https://{}", listener.local_addr()?);
    println!("kubectl {server} --token=secret --insecure-skip-tls-verify get notes");
    let stop = async { tokio::signal::ctrl_c().await.unwrap_or_default() };
    Ok(Server::new(chain, certificate).serve(listener, stop).await?)
}
