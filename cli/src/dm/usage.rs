//! What `dm` can do, as it says it itself.

use std::fmt::Write as _;

use super::flags::{FLAGS, Takes};
use crate::tabs::{self, Fill, Layout};

/// The commands, with what they take and what they do.
const COMMANDS: &[(&str, &str)] = &[
    ("expand CONFIG|TYPE", "Show the resources and the layout of a configuration"),
    ("deploy CONFIG|TYPE [IMPORT...]", "Create a deployment of a configuration or of one type"),
    ("update CONFIG|TYPE [IMPORT...]", "Give a deployment another configuration"),
    ("diff CONFIG|TYPE [IMPORT...]", "Show what deploy or update would do, and do nothing"),
    ("list", "List the names of deployments"),
    ("get DEPLOYMENT", "Show a deployment"),
    ("delete DEPLOYMENT", "Delete a deployment, and what it deployed"),
    ("manifest DEPLOYMENT [MANIFEST]", "List the manifests of a deployment, or show one"),
    ("deployed-types", "List the types that are deployed"),
    (
        "deployed-instances TYPE",
        "List the instances of a type that are deployed; of every type if it is `all`",
    ),
    ("templates", "List the templates of --registry, or those that --regex is found in"),
    ("describe TYPE", "Show the schema of a type that is deployed, or of one in a registry"),
    ("registries", "List the registries"),
    ("createregistry", "Create --registry from --registryfile, or replace it"),
    ("getcredential NAME", "Show of what sort a credential of registries is"),
    (
        "setcredential NAME",
        "Set a credential of registries, of GitHub's flags or --serviceaccount, for --url",
    ),
    ("layout DEPLOYMENT", "Draw the tree of what is deployed"),
    ("status DEPLOYMENT", "Show how far a deployment is, and each of its resources"),
    ("wait DEPLOYMENT", "Wait until a deployment is ready"),
    (
        "rollback DEPLOYMENT [MANIFEST]",
        "Apply an earlier manifest again; if none is named, the one that worked before the current",
    ),
];

/// The whole text.
pub(super) fn text() -> String {
    let mut text = "Usage: dm [FLAGS] COMMAND [ARGUMENTS]\n\nCommands:\n".to_owned();
    let commands: String =
        COMMANDS.iter().map(|(name, what)| format!("  {name}\t{what}\n")).collect();
    text += &aligned(&commands);
    text += "\nFlags, with one dash or two, before the command or behind it:\n";
    let mut flags = String::new();
    for flag in FLAGS {
        let short = flag.short.map_or_else(String::new, |short| format!("-{short}, "));
        let takes = match flag.takes {
            Takes::Text => " TEXT",
            Takes::Seconds => " SECONDS",
            Takes::Nothing => "",
        };
        let _ = writeln!(flags, "  {short}--{}{takes}\t{}", flag.name, flag.help);
    }
    text += &aligned(&flags);
    text += "\nA CONFIG is a file; the files it imports come along, with the schemas beside them, unless IMPORTs are named.\n\
        With --stdin it is the name of what standard input has: a text, or a tar archive of it and of its imports.\n\
        \nA command that fails ends with exit code 1, but diff with 2: as kubectl's, it ends with 0 where nothing would change,\n\
        and with 1 where something would.\n";
    text
}

fn aligned(text: &str) -> String {
    tabs::align(text, Layout { min_width: 0, padding: 3, fill: Fill::Spaces })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_and_every_command_is_told() {
        let text = text();
        for flag in FLAGS {
            assert!(text.contains(&format!("--{}", flag.name)), "{}", flag.name);
        }
        assert!(
            text.contains("  list                             List the names of deployments\n"),
            "{text}"
        );
    }
}
