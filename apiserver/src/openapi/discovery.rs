//! The operations of discovery: a group, and a version with all its resources.

use schema::{Schema, meta};

use super::operation::{Api, Content, MEDIA, Operation, Place, Success, camel, lower_first};
use super::resource;
use crate::resource::{ApiGroup, ApiVersion};

/// What `/apis/G` answers.
pub(super) fn group(group: &ApiGroup) -> Api {
    let schema = meta::api_group();
    let operation = Operation {
        id: format!("get{}APIGroup", camel(group.name)),
        tag: lower_first(&camel(group.name)),
        ..read(format!("/apis/{}/", group.name), "Reads the group's versions.", &schema)
    };
    Api { operations: vec![operation], schemas: vec![schema] }
}

/// What `/apis/G/V` and everything below it answer.
pub(super) fn version(group: &ApiGroup, version: &ApiVersion) -> Api {
    let schema = meta::api_resource_list();
    let place = Place::new(group.name, version.name);
    let path = format!("/apis/{}/{}/", group.name, version.name);
    let operation = Operation {
        id: format!("get{}APIResources", place.prefix),
        tag: place.tag.clone(),
        ..read(path, "Reads the version's resources.", &schema)
    };
    let mut api = Api { operations: vec![operation], schemas: vec![schema] };
    for resource in &version.resources {
        resource::describe(&mut api, &place, resource);
    }
    api
}

fn read(path: String, description: &str, schema: &Schema) -> Operation {
    Operation {
        path,
        method: "get",
        id: String::new(),
        tag: String::new(),
        description: description.to_owned(),
        about: None,
        parameters: &[],
        body: None,
        success: Success::Ok,
        answer: schema
            .definition()
            .map_or(Content::Object, |name| Content::Defined(name.to_owned())),
        produces: MEDIA,
    }
}
