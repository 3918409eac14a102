//! What the Registries of a namespace have: who is told, in every way there is.

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use tests::files::Files;
use tests::github::{self, Repository};
use tests::kubectl::Kubectl;
use tests::process::program;

use crate::paths::Paths;
use crate::setting::Setting;

const SCHEMA: &str = "properties: {text: {type: string, default: none}}";
const PRIVATE: &str = "github.com/somebody/private";

fn template(edition: &str) -> String {
    format!(
        "resources:\n- name: {{{{ env.name }}}}\n  type: ConfigMap\n  properties: {{data: {{edition: {edition}}}}}\n"
    )
}

/// A namespace with Registries: a private repository, a public one, one that is not there, and a ConfigMap.
struct Library {
    setting: Setting,
    github: Files,
}

impl Library {
    fn new() -> Result<Self> {
        let (first, second, third) = (template("first"), template("second"), template("third"));
        let private = Repository::new([
            ("README.md", "no template"),
            ("notes/note/v1/note.jinja", &first),
            ("notes/note/v1/note.jinja.schema", SCHEMA),
            ("notes/note/v1.0.10/note.jinja", &second),
            ("notes/note/v1.0.10/note.jinja.schema", SCHEMA),
            ("notes/note/v1.0.9/note.jinja", &third),
            (
                "storage/disk/v2.1/disk.py",
                "def GenerateConfig(context): return {'resources': []}\n",
            ),
        ]);
        let public = Repository::new([("plain/v1/plain.jinja", &*first)]);
        let all = [("somebody/private", private.private("t0ken")), ("somebody/public", public)];
        let github = github::serve(all)?;
        let library = Self { setting: Setting::with(&as_ref(&flags(&github)))?, github };
        library.create(&json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "key" },
            "type": "dm.formwork.dev/registry-credential", "stringData": { "token": "t0ken" },
        }))?;
        library.create(&json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "files" },
            "data": { "note.v1.jinja": template("local"), "note.v1.jinja.schema": SCHEMA, "note.v2.py": "" },
        }))?;
        let github = |url: &str| json!({ "type": "github", "url": url });
        let mut private = github(PRIVATE);
        private["credentialRef"] = json!({ "name": "key" });
        let files = json!({ "type": "configMap", "url": "templates.example/local", "configMapRef": { "name": "files" } });
        for (name, spec) in [
            ("private", private),
            ("public", github("github.com/somebody/public")),
            ("gone", github("github.com/somebody/gone")),
            ("local", files),
        ] {
            let api_version = "dm.formwork.dev/v1alpha1";
            let metadata = json!({ "name": name });
            library.create(&json!({ "apiVersion": api_version, "kind": "Registry", "metadata": metadata, "spec": spec }))?;
        }
        Ok(library)
    }

    fn create(&self, object: &Value) -> Result<()> {
        self.setting.kubectl.ok_with(&["create", "-f", "-"], &object.to_string())?;
        Ok(())
    }

    /// The path of what a Registry has.
    fn path(&self, registry: &str, query: &str) -> String {
        let namespace = &self.setting.kubectl.namespace;
        format!(
            "/apis/dm.formwork.dev/v1alpha1/namespaces/{namespace}/registries/{registry}/types{query}"
        )
    }

    /// What a Registry has, as a user is told.
    fn items(&self, user: &Kubectl, registry: &str, query: &str) -> Result<Value> {
        let text = user.ok(&["get", "--raw", &self.path(registry, query)])?;
        Ok(serde_json::from_str::<Value>(&text)?["items"].take())
    }

    fn refused(&self, user: &Kubectl, registry: &str, query: &str) -> Result<String> {
        user.refused(&["get", "--raw", &self.path(registry, query)], "")
    }

    /// Gives a user the right to do something in the namespace.
    fn allow(&self, user: &str, name: &str, resource: &str) -> Result<()> {
        let admin = &self.setting.kubectl;
        let resource = format!("--resource={resource}");
        admin.ok(&["create", "role", name, "--verb=get,list,create", &resource])?;
        let (role, user) = (format!("--role={name}"), format!("--user={user}"));
        admin.ok(&["create", "rolebinding", name, &role, &user])?;
        Ok(())
    }
}

/// The flags of a server that knows this GitHub.
fn flags(github: &Files) -> [String; 3] {
    [
        "--template-allowed-hosts=github.com".to_owned(),
        "--template-allow-private-addresses".to_owned(),
        format!("--template-github-url={}", github.host()),
    ]
}

fn as_ref(flags: &[String]) -> Vec<&str> {
    flags.iter().map(String::as_str).collect()
}

fn types(items: &Value) -> Vec<&str> {
    items.as_array().into_iter().flatten().filter_map(|item| item["type"].as_str()).collect()
}

#[test]
fn what_a_registry_has_is_told_to_whoever_may_use_it() -> Result<()> {
    let library = Library::new()?;
    let admin = &library.setting.kubectl;
    let items = library.items(admin, "private", "")?;
    let want = [
        format!("{PRIVATE}/notes/note:v1"),
        format!("{PRIVATE}/notes/note:v1.0.9"),
        format!("{PRIVATE}/notes/note:v1.0.10"),
        format!("{PRIVATE}/storage/disk:v2.1"),
    ];
    assert_eq!(types(&items), want);
    assert_eq!(
        items[3],
        json!({ "type": want[3], "collection": "storage", "name": "disk", "version": "v2.1" })
    );
    assert_eq!(types(&library.items(admin, "private", "?regex=%5Estorage")?), [&*want[3]]);
    assert_eq!(types(&library.items(admin, "private", "?regex=note:v1$")?), [&*want[0]]);
    assert_eq!(library.items(admin, "private", "?regex=nothing")?, json!([]));
    let local = library.items(admin, "local", "")?;
    assert_eq!(
        types(&local),
        ["templates.example/local/note:v1", "templates.example/local/note:v2"]
    );
    assert_eq!(
        types(&library.items(admin, "public", "")?),
        ["github.com/somebody/public/plain:v1"]
    );

    // One type comes with its files and its schema.
    let one = library.items(admin, "private", "?type=notes/note:v1.0")?;
    let url = format!("{PRIVATE}/notes/note/v1.0.10/note.jinja");
    assert_eq!(
        one,
        json!([{
            "type": format!("{PRIVATE}/notes/note:v1.0"), "collection": "notes", "name": "note", "version": "v1.0",
            "urls": [url, format!("{url}.schema")], "schema": SCHEMA,
        }])
    );

    for (registry, query, want) in [
        ("private", "?regex=((", "(BadRequest): regex: \"((\" is not a regular expression: "),
        ("private", "?regex=a&type=b", "(BadRequest): regex and type exclude each other"),
        ("private", "?type=notes/other", "(NotFound): "),
        ("private", "?type=notes/note:v7", "(NotFound): "),
        ("nope", "", "(NotFound): registries.dm.formwork.dev \"nope\" not found"),
    ] {
        let refused = library.refused(admin, registry, query)?;
        ensure!(refused.contains(want), "{registry}{query}: {refused}");
    }
    // It is somebody else who does not answer: kubectl says what that one says.
    let refused = library.refused(admin, "gone", "")?;
    ensure!(
        refused.contains("(ServiceUnavailable)") || refused.contains("unable to handle"),
        "{refused}"
    );
    Ok(())
}

#[test]
fn nobody_is_told_more_than_he_may_read() -> Result<()> {
    let library = Library::new()?;
    let alice = library.setting.user("alice")?;
    let refused = library.refused(&alice, "public", "")?;
    ensure!(refused.contains("(Forbidden)") && refused.contains("registries/types"), "{refused}");
    library.allow(
        "alice",
        "asks",
        "registries.dm.formwork.dev/types,expansions.dm.formwork.dev",
    )?;
    let path = library.path("public", "");
    alice.until(&["get", "--raw", &path], |text| text.contains("/plain:v1"))?;
    let asked = library.github.asked().len();
    // An Expansion is of whoever sends it, too.
    let expansion = json!({
        "apiVersion": "dm.formwork.dev/v1alpha1", "kind": "Expansion", "metadata": { "name": "e" },
        "spec": { "configuration": format!("resources: [{{name: a, type: '{PRIVATE}/notes/note:v1'}}]") },
    });
    let create = ["create", "--validate=false", "-o", "json", "-f", "-"];
    let refused = alice.refused(&create, &expansion.to_string())?;
    let why = "Secret key of its registry: user \"alice\" may not get it";
    ensure!(refused.contains(why) && !refused.contains("t0ken"), "{refused}");
    for (registry, object) in [("private", "Secret key"), ("local", "ConfigMap files")] {
        for query in ["", "?type=notes/note:v1"] {
            let refused = library.refused(&alice, registry, query)?;
            let want = format!(
                "(Forbidden): registries.dm.formwork.dev \"{registry}\" is forbidden: {object} of its registry: \
                 user \"alice\" may not get it"
            );
            ensure!(refused.contains(&want) && !refused.contains("t0ken"), "{refused}");
        }
    }
    assert_eq!(library.github.asked().len(), asked, "nobody was asked");
    library.allow("alice", "reads", "secrets,configmaps")?;
    for registry in ["private", "local"] {
        let path = library.path(registry, "");
        alice.until(&["get", "--raw", &path], |text| text.contains("note:v1"))?;
    }
    let expanded = alice.ok_with(&create, &expansion.to_string())?;
    let expanded: Value = serde_json::from_str(&expanded)?;
    let data = &expanded["status"]["config"]["resources"][0]["properties"]["data"];
    assert_eq!(data, &json!({ "edition": "second" }));
    Ok(())
}

/// What `dm` prints in both ways.
fn both(near: &Kubectl, far: &Kubectl, args: &[&str]) -> Result<String> {
    let printed = near.ok(args)?;
    assert_eq!(far.ok(args)?, printed, "{args:?}");
    Ok(printed)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dm_has_registries_and_their_templates_in_both_ways() -> Result<()> {
    let library = Library::new()?;
    let setting = &library.setting;
    let paths = Paths::of(setting, "admin", &as_ref(&flags(&library.github)))?;
    let cluster = setting.serving().installation.cluster();
    let near = cluster.kubectl("admin")?.program(program("dm")?);
    let near = near.in_namespace(&setting.kubectl.namespace);
    let service = format!("http://{}", paths.at);
    let far = Kubectl::with(vec!["--service".into(), service.into(), "--timeout=60".into()])?;
    let far = far.program(program("dm")?).in_namespace("");

    let registries = both(&near, &far, &["registries"])?;
    let want = "- credentialname: key\n  name: private\n  type: github\n  url: github.com/somebody/private\n";
    ensure!(registries.contains(want), "{registries}");

    let templates = both(&near, &far, &["--registry", "private", "templates"])?;
    let item = |collection: &str, name: &str, [major, minor, patch]: [u8; 3]| {
        format!(
            "- Collection: {collection}\n  Name: {name}\n  Version:\n    Major: {major}\n    Minor: {minor}\n    Patch: {patch}\n"
        )
    };
    let disk = item("storage", "disk", [2, 1, 0]);
    let notes = [[1, 0, 0], [1, 0, 9], [1, 0, 10]].map(|version| item("notes", "note", version));
    assert_eq!(templates, format!("{}{disk}\n", notes.concat()));
    let some = both(&near, &far, &["templates", "--registry=private", "--regex", "disk:v[0-9]"])?;
    assert_eq!(some, format!("{disk}\n"));
    let none = both(&near, &far, &["templates", "--registry=private", "--regex=nothing"])?;
    assert_eq!(none, "null\n\n");
    let plain = both(&near, &far, &["templates", "--registry=public"])?;
    assert_eq!(plain, format!("{}\n", item("\"\"", "plain", [1, 0, 0])));
    for args in [
        &["templates", "--registry=private", "--regex=(("][..],
        &["templates", "--registry=gone"],
        &["templates", "--registry=nope"],
    ] {
        let (near, far) = (near.refused(args, "")?, far.refused(args, "")?);
        ensure!(
            near.starts_with("Error from server (")
                && far.starts_with("error: cannot list templates: "),
            "{near}{far}"
        );
    }

    let kind = format!("{PRIVATE}/notes/note:v1");
    assert_eq!(both(&near, &far, &["describe", &kind])?, format!("'{SCHEMA}'\n\n"));
    let refused = near.refused(&["describe", "github.com/else/where/t:v1"], "")?;
    ensure!(refused.contains("is not deployed, and stands in no registry"), "{refused}");
    // Names of resources are those of the way.
    for dm in [&near, &far] {
        let expanded = dm.ok(&["expand", &kind])?;
        ensure!(expanded.contains("edition: second\n"), "{expanded}");
    }

    // The original told URLs by a path of their own, and texts of files, which are not told here.
    let urls = paths.get("/registries/private/types/notes%252Fnote%253Av1").await?.json()?;
    let url = format!("{PRIVATE}/notes/note/v1.0.10/note.jinja");
    assert_eq!(urls, json!([url, format!("{url}.schema")]));
    for (path, code) in [
        ("private/types/nothing%253Av1", 400),
        ("gone/types/nothing%253Av1", 500),
        ("nope/types/nothing%253Av1", 400),
        ("private/download?file=note.jinja", 404),
    ] {
        let answer = paths.get(&format!("/registries/{path}")).await?;
        ensure!(answer.status == code && !answer.text().contains("t0ken"), "{path}: {answer:?}");
    }

    // A file of the original's or an object of ours, made by the one way and replaced by the other.
    let file = |name: &str, text: &str| near.file(name, text);
    let theirs = file(
        "r.json",
        r#"{"name": "more", "type": "github", "url": "github.com/a/b", "format": "versioned;collection"}"#,
    )?;
    let create = |file: &str| {
        [
            "createregistry".to_owned(),
            "--registry=more".to_owned(),
            format!("--registryfile={file}"),
        ]
    };
    let run = |dm: &Kubectl, file: &str| dm.ok(&as_ref(&create(file)));
    let want = "format: versioned;collection\nname: more\ntype: github\nurl: github.com/a/b\n\n";
    assert_eq!(run(&near, &theirs)?, want);
    assert_eq!(run(&far, &theirs)?, want);
    let ours = file(
        "r.yaml",
        "kind: Registry\nmetadata: {name: more}\nspec: {type: github, url: github.com/c/d}\n",
    )?;
    assert_eq!(run(&near, &ours)?, "name: more\ntype: github\nurl: github.com/c/d\n\n");
    assert_eq!(setting.read("registries/more", ".spec.format")?, "");
    let other = file("o.json", r#"{"name": "other"}"#)?;
    for dm in [&near, &far] {
        let refused = dm.refused(&as_ref(&create(&other)), "")?;
        ensure!(
            refused.contains("cannot create registry: ")
                && refused.contains("Registry name does not match other != more"),
            "{refused}"
        );
    }
    Ok(())
}
