//! The versions of JSON Schema: which one a schema is written in, and which of its keywords hold further schemas.
//!
//! What the keywords mean is the business of the `jsonschema` crate.

use jsonschema::{Draft, PatternOptions, ValidationError, Validator};

use super::{multiple, pattern};

/// A version of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Version {
    Draft4,
    Draft6,
    Draft7,
    Draft201909,
    Draft202012,
}

/// In which form a keyword holds schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// One schema.
    Schema,
    /// A list of schemas.
    List,
    /// Schemas by name.
    Map,
    /// One schema or a list of them: `items`.
    SchemaOrList,
    /// By name a schema or a list of names: `dependencies`.
    MapOfEither,
}

use Version::{Draft4, Draft6, Draft7, Draft201909, Draft202012};

/// The keywords that apply schemas, since which version and until which one. `properties` is first, because it brings the
/// defaults that others may see.
const APPLICATORS: &[(&str, Holds, Version, Version)] = &[
    ("properties", Holds::Map, Draft4, Draft202012),
    ("patternProperties", Holds::Map, Draft4, Draft202012),
    ("additionalProperties", Holds::Schema, Draft4, Draft202012),
    ("items", Holds::SchemaOrList, Draft4, Draft201909),
    ("prefixItems", Holds::List, Draft202012, Draft202012),
    ("items", Holds::Schema, Draft202012, Draft202012),
    ("additionalItems", Holds::Schema, Draft4, Draft201909),
    ("contains", Holds::Schema, Draft6, Draft202012),
    ("propertyNames", Holds::Schema, Draft6, Draft202012),
    ("dependencies", Holds::MapOfEither, Draft4, Draft202012),
    ("dependentSchemas", Holds::Map, Draft201909, Draft202012),
    ("allOf", Holds::List, Draft4, Draft202012),
    ("anyOf", Holds::List, Draft4, Draft202012),
    ("oneOf", Holds::List, Draft4, Draft202012),
    ("not", Holds::Schema, Draft4, Draft202012),
    ("if", Holds::Schema, Draft7, Draft202012),
    ("then", Holds::Schema, Draft7, Draft202012),
    ("else", Holds::Schema, Draft7, Draft202012),
    ("unevaluatedProperties", Holds::Schema, Draft201909, Draft202012),
    ("unevaluatedItems", Holds::Schema, Draft201909, Draft202012),
];

/// The keywords that only keep schemas for others to refer to.
const CONTAINERS: &[(&str, Holds, Version, Version)] = &[
    ("definitions", Holds::Map, Draft4, Draft202012),
    ("$defs", Holds::Map, Draft201909, Draft202012),
    ("contentSchema", Holds::Schema, Draft201909, Draft202012),
];

impl Version {
    /// The version that `$schema` names; `None` when it names another one, or something else.
    pub(super) fn named(uri: &str) -> Option<Self> {
        let name = uri.trim_end_matches('#');
        let name = name.strip_prefix("http://").or_else(|| name.strip_prefix("https://"))?;
        Some(match name.strip_prefix("json-schema.org/")? {
            // The address of no version in particular was that of the current one, in those days.
            "draft-04/schema" | "schema" => Draft4,
            "draft-06/schema" => Draft6,
            "draft-07/schema" => Draft7,
            "draft/2019-09/schema" => Draft201909,
            "draft/2020-12/schema" => Draft202012,
            _ => return None,
        })
    }

    /// The keywords that apply schemas to a value or to its parts.
    pub(super) fn applicators(self) -> impl Iterator<Item = (&'static str, Holds)> {
        of(APPLICATORS, self)
    }

    /// All keywords that hold schemas.
    pub(super) fn keywords(self) -> impl Iterator<Item = (&'static str, Holds)> {
        of(APPLICATORS, self).chain(of(CONTAINERS, self))
    }

    /// Whether `$ref` stands for everything beside it.
    pub(super) fn reference_stands_alone(self) -> bool {
        self < Draft201909
    }

    /// The keyword that gives a schema a name of its own.
    pub(super) fn identifier(self) -> &'static str {
        if self == Draft4 { "id" } else { "$id" }
    }

    /// What is wrong with a schema by the schema of schemas.
    pub(super) fn violations_of(
        self,
        schema: &serde_json::Value,
        report: impl FnMut(ValidationError<'_>),
    ) {
        match self {
            Draft4 => jsonschema::draft4::meta::validator().iter_errors(schema).for_each(report),
            Draft6 => jsonschema::draft6::meta::validator().iter_errors(schema).for_each(report),
            Draft7 => jsonschema::draft7::meta::validator().iter_errors(schema).for_each(report),
            Draft201909 => {
                jsonschema::draft201909::meta::validator().iter_errors(schema).for_each(report);
            }
            Draft202012 => {
                jsonschema::draft202012::meta::validator().iter_errors(schema).for_each(report);
            }
        }
    }

    /// Compiles a schema. Nothing is fetched, formats are not checked, and patterns match in linear time.
    ///
    /// # Errors
    /// When the schema is not valid.
    pub(super) fn compile(
        self,
        schema: &serde_json::Value,
    ) -> Result<Validator, ValidationError<'static>> {
        let draft = match self {
            Draft4 => Draft::Draft4,
            Draft6 => Draft::Draft6,
            Draft7 => Draft::Draft7,
            Draft201909 => Draft::Draft201909,
            Draft202012 => Draft::Draft202012,
        };
        let patterns = PatternOptions::regex()
            .size_limit(pattern::MAX_SIZE)
            .dfa_size_limit(pattern::MAX_CACHE);
        jsonschema::options()
            .with_draft(draft)
            .with_pattern_options(patterns)
            .should_validate_formats(false)
            .with_keyword("multipleOf", multiple::compile)
            .offline()
            .build(schema)
    }
}

fn of(
    table: &'static [(&'static str, Holds, Version, Version)],
    version: Version,
) -> impl Iterator<Item = (&'static str, Holds)> {
    table
        .iter()
        .filter(move |(_, _, since, until)| (since..=until).contains(&&version))
        .map(|(keyword, holds, _, _)| (*keyword, *holds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_named_with_or_without_a_hash() {
        assert_eq!(Version::named("http://json-schema.org/draft-04/schema#"), Some(Draft4));
        let newest = Version::named("https://json-schema.org/draft/2020-12/schema");
        assert_eq!(newest, Some(Draft202012));
        assert_eq!(Version::named("http://json-schema.org/draft-03/schema#"), None);
        assert_eq!(Version::named("http://example.com/draft-04/schema#"), None);
    }

    #[test]
    fn a_keyword_has_its_meaning_from_its_version_on() {
        let has = |version: Version, keyword| version.applicators().any(|(k, _)| k == keyword);
        assert!(!has(Draft4, "if") && !has(Draft6, "if") && has(Draft7, "if"));
        assert!(has(Draft201909, "additionalItems") && !has(Draft202012, "additionalItems"));
        assert_eq!(Draft202012.applicators().filter(|(k, _)| *k == "items").count(), 1);
    }
}
