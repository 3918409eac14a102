//! Containers, and the references in them that are Kubernetes' own.
//!
//! Kubernetes expands `$(NAME)` from a container's environment in its `command`, `args`, the
//! commands of its probes, `subPathExpr` of its mounts, and the values of its variables; a value
//! sees the variables before it. There a name that is a variable stays as it is; a name that is a
//! parameter too is refused. With `envFrom` the names are not known, so any name may be one.
//!
//! A container is known by its shape, an element of `containers`, `initContainers` or
//! `ephemeralContainers`, whatever kind holds it.

use std::collections::BTreeMap;

use super::super::{Result, Rewriter, Wrote};
use crate::json::{Quoted, Scanner, Syntax};
use crate::values::Form;

/// The container that the cursor is in.
pub(super) struct Container {
    /// Where it starts in the object.
    start: usize,
    /// Read when a reference first asks for them.
    variables: Option<Variables>,
}

/// The environment of a container.
#[derive(Default)]
pub(super) struct Variables {
    /// By name, the place of the first of that name.
    places: BTreeMap<String, usize>,
    /// Whether there are others: from a ConfigMap or a Secret, or named by a parameter that has
    /// no value yet.
    has_more: bool,
}

/// Where a variable stands in its container's environment.
pub(super) enum Place {
    At(usize),
    /// Perhaps somewhere.
    Unknown,
    Nowhere,
}

impl Variables {
    pub(super) fn place(&self, name: &str) -> Place {
        match self.places.get(name) {
            Some(place) => Place::At(*place),
            None if self.has_more => Place::Unknown,
            None => Place::Nowhere,
        }
    }
}

/// All variables of the container.
const ALL: Option<usize> = Some(usize::MAX);

impl<'a> Rewriter<'a> {
    /// Rewrites a container.
    pub(super) fn container(&mut self) -> Result<Wrote> {
        if self.byte() != b'{' {
            return self.any_value();
        }
        self.strict.container = Some(Container { start: self.at, variables: None });
        let wrote = self.named(|this, name| match name {
            "command" | "args" => this.texts(ALL),
            "env" => this.environment(),
            "volumeMounts" => this.maps(|this, _, name| match name {
                "subPathExpr" => this.expanded(ALL),
                _ => this.any_value(),
            }),
            "livenessProbe" | "readinessProbe" | "startupProbe" => {
                this.named(|this, name| match name {
                    "exec" => this.named(|this, name| match name {
                        "command" => this.texts(ALL),
                        _ => this.any_value(),
                    }),
                    _ => this.any_value(),
                })
            }
            _ => this.any_value(),
        });
        self.strict.container = None;
        wrote
    }

    fn environment(&mut self) -> Result<Wrote> {
        self.maps(|this, index, name| match name {
            "value" => this.expanded(Some(index)),
            _ => this.any_value(),
        })
    }

    /// Rewrites a map by the names of its members, or any other value.
    fn named(&mut self, mut each: impl FnMut(&mut Self, &str) -> Result<Wrote>) -> Result<Wrote> {
        if self.byte() != b'{' {
            return self.any_value();
        }
        let map = self.unique_map(|this, index| {
            let name = this.members[index].name.clone();
            each(this, &name)
        })?;
        self.members.truncate(map.first);
        Ok(Wrote::Other)
    }

    /// Rewrites a list of maps by the names of their members, or any other value.
    fn maps(
        &mut self,
        mut each: impl FnMut(&mut Self, usize, &str) -> Result<Wrote>,
    ) -> Result<Wrote> {
        if self.byte() != b'[' {
            return self.any_value();
        }
        let mut index = 0;
        self.list(|this| {
            let wrote = this.named(|this, name| each(this, index, name));
            index += 1;
            wrote.map(drop)
        })
    }

    fn texts(&mut self, sees: Option<usize>) -> Result<Wrote> {
        if self.byte() != b'[' {
            return self.any_value();
        }
        self.list(|this| this.expanded(sees).map(drop))
    }

    /// Rewrites a string that Kubernetes expands, or any other value.
    fn expanded(&mut self, sees: Option<usize>) -> Result<Wrote> {
        if self.byte() == b'"' { self.text(sees) } else { self.any_value() }
    }

    /// The variables of the container that the cursor is in.
    pub(super) fn variables(&mut self) -> Option<&Variables> {
        let Container { start, variables } = self.strict.container.as_ref()?;
        if variables.is_none() {
            let variables = self.read_variables(*start);
            self.strict.container.as_mut()?.variables = Some(variables);
        }
        self.strict.container.as_ref()?.variables.as_ref()
    }

    /// Reads the names of the variables of the container that starts there.
    fn read_variables(&mut self, start: usize) -> Variables {
        let mut variables = Variables::default();
        let (text, is_check) = (self.text, self.is_check());
        let mut scanner = Scanner::new(&text[start..]);
        let read = scanner.members(|scanner, key| {
            match (&*key.decode(), scanner.peek()) {
                ("env", b'[') => {
                    let mut place = 0;
                    scanner.elements(|scanner| {
                        if let Some(name) = name_of(scanner)? {
                            variables.has_more |= is_check && name.as_str().contains('$');
                            if let Form::Text(name) = self.outcome(name) {
                                let name = Quoted::proven(&name).decode().into_owned();
                                variables.places.entry(name).or_insert(place);
                            }
                        }
                        place += 1;
                        Ok::<(), Syntax>(())
                    })?;
                }
                ("envFrom", b'[') => {
                    let list = scanner.value()?;
                    variables.has_more |= list.as_str()[1..].trim_start() != "]";
                }
                _ => drop(scanner.value()?),
            }
            Ok::<(), Syntax>(())
        });
        read.expect("an object's text is proven JSON");
        variables
    }
}

/// Reads a map for its `name`.
fn name_of<'t>(scanner: &mut Scanner<'t>) -> std::result::Result<Option<Quoted<'t>>, Syntax> {
    let mut name = None;
    if scanner.peek() != b'{' {
        scanner.value()?;
        return Ok(None);
    }
    scanner.members(|scanner, key| {
        let is_name = key.decode() == "name";
        if is_name && scanner.peek() == b'"' {
            name = Some(scanner.string()?);
        } else {
            scanner.value()?;
        }
        Ok::<(), Syntax>(())
    })?;
    Ok(name)
}
