//! Which file a type of a registry stands for: one row for each rule, asked of a server that answers as GitHub does.

use anyhow::{Result, ensure};
use expander::{Access, Credential, Fetch as _, Finding, Place, Registries, Registry, Web};
use expansion::Wanted;
use tests::github::{self, Repository};

/// The files of `o/library`.
const LIBRARY: &[&str] = &[
    "README.md",
    "storage/redis/README.md",
    "storage/redis/docs/guide.md",
    "storage/redis/latest/redis.jinja",
    "storage/redis/v1/redis.jinja",
    "storage/redis/v1.0.2/redis.jinja",
    "storage/redis/v1.0.10/redis.jinja",
    "storage/redis/v1.0.10/redis.jinja.schema",
    "storage/redis/v1.1/redis.jinja",
    "storage/redis/v1.2-rc1/redis.jinja",
    "storage/redis/v1.3.7/redis.jinja",
    "storage/redis/v2/redis.py",
    "storage/redis/v2.10.1/redis.py",
    "storage/redis/v2.9.5/redis.py",
    "storage/files.v/v1/files.v.py",
    "plain/v1/plain.py",
    "bare/2/bare.py",
    "bare/2.1.3/bare.py",
    "zero/v0/zero.py",
    "zero/v0.0.4/zero.py",
    "spelled/v1/spelled.py",
    "spelled/v1.0/spelled.py",
    "spelled/v1.0.0/spelled.py",
    "spelled/v3.0/spelled.py",
    "both/v1/both.jinja",
    "both/v1/both.py",
    "other/v1/another.py",
    "empty/v1/notes/x.txt",
    "huge/v99999999999999999999/huge.py",
    "padded/v01.002/padded.py",
    "words/stable/words.py",
    "words/examples/words.py",
    "file/v1",
    "redis/v1/redis.py",
];

/// Types, without what all begin with; and the file that each is, or what is said instead.
const RULES: &[(&str, Result<&str, &str>)] = &[
    // A part that is left out is zero, and the highest PATCH of that MAJOR and MINOR is taken.
    ("storage/redis:v1", Ok("storage/redis/v1.0.10/redis.jinja")),
    ("storage/redis:v1.0", Ok("storage/redis/v1.0.10/redis.jinja")),
    ("storage/redis:v1.0.0", Ok("storage/redis/v1.0.10/redis.jinja")),
    ("storage/redis:v1.0.2", Ok("storage/redis/v1.0.10/redis.jinja")),
    ("storage/redis:v1.0.11", Ok("storage/redis/v1.0.10/redis.jinja")),
    ("zero:v0", Ok("zero/v0.0.4/zero.py")),
    ("zero:v0.0", Ok("zero/v0.0.4/zero.py")),
    ("zero:v0.0.0", Ok("zero/v0.0.4/zero.py")),
    // Never a higher MINOR or MAJOR.
    ("storage/redis:v1.1", Ok("storage/redis/v1.1/redis.jinja")),
    ("storage/redis:v1.1.4", Ok("storage/redis/v1.1/redis.jinja")),
    ("storage/redis:v1.2", Err("has no version v1.2 of it")),
    ("storage/redis:v1.3", Ok("storage/redis/v1.3.7/redis.jinja")),
    ("storage/redis:v2", Ok("storage/redis/v2/redis.py")),
    ("storage/redis:v2.1", Err("has no version v2.1 of it")),
    ("storage/redis:v2.9", Ok("storage/redis/v2.9.5/redis.py")),
    ("storage/redis:v2.10", Ok("storage/redis/v2.10.1/redis.py")),
    ("storage/redis:v3", Err("has no version v3 of it")),
    ("zero:v1", Err("has no version v1 of it")),
    // Without a version it is the highest, by number.
    ("storage/redis", Ok("storage/redis/v2.10.1/redis.py")),
    ("zero", Ok("zero/v0.0.4/zero.py")),
    ("words", Err("has no version of it")),
    // A `v` more or less, and zeros, are the same version; of equal ones the one that is spelled so.
    ("storage/redis:1", Ok("storage/redis/v1.0.10/redis.jinja")),
    ("bare:v2", Ok("bare/2/bare.py")),
    ("bare:2.1", Ok("bare/2.1.3/bare.py")),
    ("padded:v1.2", Ok("padded/v01.002/padded.py")),
    ("spelled:v1", Ok("spelled/v1/spelled.py")),
    ("spelled:v1.0", Ok("spelled/v1.0/spelled.py")),
    ("spelled:v1.0.0", Ok("spelled/v1.0.0/spelled.py")),
    ("spelled:1.0", Ok("spelled/v1/spelled.py")),
    ("spelled:v3", Ok("spelled/v3.0/spelled.py")),
    // A folder of exactly that name, where no version fits.
    ("storage/redis:latest", Ok("storage/redis/latest/redis.jinja")),
    ("storage/redis:v1.2-rc1", Ok("storage/redis/v1.2-rc1/redis.jinja")),
    ("words:stable", Ok("words/stable/words.py")),
    ("words:examples", Ok("words/examples/words.py")),
    ("huge:v99999999999999999999", Ok("huge/v99999999999999999999/huge.py")),
    // What is no version, and what no folder is called.
    ("storage/redis:", Err("is not github.com/OWNER/REPOSITORY/")),
    ("storage/redis:.", Err("is not github.com/OWNER/REPOSITORY/")),
    ("storage/redis:v", Err("has no version v of it")),
    ("storage/redis:v1.", Err("has no version v1. of it")),
    ("storage/redis:1..2", Err("has no version 1..2 of it")),
    ("storage/redis:1.2.3.4", Err("has no version 1.2.3.4 of it")),
    ("storage/redis:-1", Err("has no version -1 of it")),
    ("storage/redis:1,1", Err("is not github.com/OWNER/REPOSITORY/")),
    ("storage/redis:+1", Err("is not github.com/OWNER/REPOSITORY/")),
    ("storage/redis:v1:v2", Err("is not github.com/OWNER/REPOSITORY/")),
    ("storage/redis:vv1", Err("has no version vv1 of it")),
    ("storage/redis:V1", Err("has no version V1 of it")),
    ("storage/redis:README.md", Err("has no version README.md of it")),
    ("file:v1", Err("has no version v1 of it")),
    // A collection may be left out; what it is called may be anything, and there is one at most.
    ("plain:v1", Ok("plain/v1/plain.py")),
    ("redis:v1", Ok("redis/v1/redis.py")),
    ("storage/files.v:v1", Ok("storage/files.v/v1/files.v.py")),
    ("a/storage/redis:v1", Err("is not github.com/OWNER/REPOSITORY/")),
    ("cache/redis:v1", Err("the registry does not have it")),
    ("storage:v1", Err("has no version v1 of it")),
    ("", Err("is not github.com/OWNER/REPOSITORY/")),
    ("../secret:v1", Err("is not github.com/OWNER/REPOSITORY/")),
    ("storage/redis?ref=x:v1", Err("is not github.com/OWNER/REPOSITORY/")),
    // The file is called as the template is; Python goes before Jinja.
    ("both:v1", Ok("both/v1/both.py")),
    ("other:v1", Err("version v1 of it has neither other.py nor other.jinja")),
    ("empty:v1", Err("version v1 of it has neither empty.py nor empty.jinja")),
    ("none:v1", Err("the registry does not have it")),
];

#[tokio::test]
async fn a_type_of_a_registry_is_the_file_that_the_rules_say() -> Result<()> {
    ensure!(RULES.len() >= 40, "{} rules", RULES.len());
    let library = Repository::new(LIBRARY.iter().map(|path| (*path, *path)));
    let served = github::serve([("o/library", library)])?;
    let web = Web::new(Access {
        hosts: vec!["github.com".to_owned()],
        private_addresses: true,
        github: served.host(),
        ..Access::default()
    })?;
    let mut wrong = Vec::new();
    for (rest, want) in RULES {
        let name = format!("github.com/o/library/{rest}");
        let got = web.fetch(&[Wanted { name: name.clone() }]).await;
        let fits = match (&got, want) {
            // Every file holds its own path. A schema is brought where there is one, and not missed elsewhere.
            (Ok(files), Ok(path)) => {
                let has_schema = LIBRARY.contains(&format!("{path}.schema").as_str());
                &*files[&name].content == *path
                    && files[&name].path == format!("github.com/o/library/{path}")
                    && files.contains_key(&format!("{name}.schema")) == has_schema
            }
            (Err(error), Err(part)) => error.message.contains(part),
            _ => false,
        };
        if !fits {
            wrong.push(format!("{rest:?} should be {want:?}: {got:?}"));
        }
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

#[tokio::test]
async fn repositories_that_are_not_there_or_not_for_everybody_are_told() -> Result<()> {
    let private = Repository::new([("t/v1/t.py", "T")]).private("secret");
    let served = github::serve([("o/private", private)])?;
    let web = Web::new(Access {
        hosts: vec!["github.com".to_owned()],
        private_addresses: true,
        github: served.host(),
        ..Access::default()
    })?;
    for name in ["github.com/o/private/t:v1", "github.com/o/none/t:v1"] {
        let error = web.fetch(&[Wanted { name: name.to_owned() }]).await.unwrap_err();
        ensure!(error.message.contains("the registry does not have it"), "{error}");
    }
    Ok(())
}

/// One registry, for all types that begin as it does.
pub(crate) struct Only(pub(crate) Registry);

impl Registries for Only {
    fn of<'a>(&'a self, name: &'a str) -> Finding<'a> {
        let fits = expander::within(name, &self.0.prefix).is_some();
        Box::pin(async move { Ok(fits.then(|| self.0.clone())) })
    }
}

fn only(prefix: &str, versioned: bool, place: Place) -> Only {
    Only(Registry { prefix: prefix.to_owned(), versioned, collections: true, place })
}

#[tokio::test]
async fn a_credential_opens_its_own_repository_and_goes_nowhere_else() -> Result<()> {
    let private = Repository::new([
        ("t/v1/t.py", "T"),
        (
            "t/v1/t.py.schema",
            "imports: [{path: helper.py}, {path: 'github.com/o/public/u:v1', name: u}]",
        ),
        ("t/v1/helper.py", "HELPER"),
        ("out/v1/out.py", "OUT"),
        ("out/v1/out.py.schema", "imports: [{path: 'github.com/o/sealed/s:v1'}]"),
        ("folder/flat/flat.jinja", "FLAT"),
    ])
    .private("secret");
    let public = Repository::new([("u/v1/u.py", "U")]);
    let sealed = Repository::new([("s/v1/s.py", "S")]).private("secret");
    let all = [("o/private", private), ("o/public", public), ("o/sealed", sealed)];
    let served = github::serve(all)?;
    let web = Web::new(Access {
        hosts: vec!["github.com".to_owned()],
        private_addresses: true,
        github: served.host(),
        ..Access::default()
    })?;
    let fetched = async |registry: &Only, name: &str| {
        let files = web.among(registry).fetch(&[Wanted { name: name.to_owned() }]).await;
        let files = files.map_err(|error| error.to_string())?;
        Ok(files.into_values().map(|file| file.content.to_string()).collect::<Vec<_>>())
    };
    let with = |token| Place::GitHub(Credential::token(token));
    let right = only("github.com/o/private", true, with("secret"));
    let files: Result<_, String> = fetched(&right, "github.com/o/private/t:v1").await;
    let files = files.map_err(anyhow::Error::msg)?;
    ensure!(["T", "HELPER", "U"].iter().all(|it| files.iter().any(|file| file == it)), "{files:?}");
    // The same token would open this one, and it is not sent there.
    let error = fetched(&right, "github.com/o/private/out:v1").await.unwrap_err();
    ensure!(error.contains("github.com/o/sealed/s:v1: the registry does not have it"), "{error}");
    let wrong = only("github.com/o/private", true, with("wrong"));
    let error = fetched(&wrong, "github.com/o/private/t:v1").await.unwrap_err();
    ensure!(error.contains("status code 401") && !error.contains("wrong"), "{error}");
    let flat = only("github.com/o/private/folder", false, with("secret"));
    assert_eq!(
        fetched(&flat, "github.com/o/private/folder/flat").await,
        Ok(vec!["FLAT".to_owned()])
    );
    let error = fetched(&flat, "github.com/o/private/folder/flat:v1").await.unwrap_err();
    ensure!(error.contains("its registry has no versions"), "{error}");
    Ok(())
}

#[tokio::test]
async fn files_that_somebody_has_are_a_registry_too() -> Result<()> {
    let files = [
        ("note.v1.jinja", "OLD"),
        ("note.v1.0.3.jinja", "NOTE"),
        ("note.v1.0.3.jinja.schema", "imports: [{path: helper.py}]"),
        ("helper.py", "HELPER"),
        ("lacks.v1.py", ""),
        ("lacks.v1.py.schema", "imports: [{path: none.py}]"),
    ];
    let files = files.map(|(name, text)| (name.to_owned(), text.to_owned())).into();
    let shown = "configmaps/library".to_owned();
    let registry = only("templates.example/lib", true, Place::Files { shown, files });
    let web = Web::new(Access::default())?;
    let name = "https://templates.example/lib/note:v1";
    let got = web.among(&registry).fetch(&[Wanted { name: name.to_owned() }]).await?;
    let got: Vec<_> = got.iter().map(|(name, it)| format!("{name} {}", it.path)).collect();
    let want = [
        "helper.py configmaps/library/helper.py".to_owned(),
        format!("{name} configmaps/library/note.v1.0.3.jinja"),
        format!("{name}.schema configmaps/library/note.v1.0.3.jinja.schema"),
    ];
    assert_eq!(got, want);
    let lacks = Wanted { name: "https://templates.example/lib/lacks:v1".to_owned() };
    let error = web.among(&registry).fetch(&[lacks]).await.unwrap_err();
    ensure!(
        error.message.contains("404 attempting to fetch configmaps/library/none.py"),
        "{error}"
    );
    Ok(())
}

/// Several registries.
struct Several(Vec<Registry>);

impl Registries for Several {
    fn of<'a>(&'a self, name: &'a str) -> Finding<'a> {
        let mut fits = self.0.iter().filter(|it| expander::within(name, &it.prefix).is_some());
        let found = fits.next().cloned();
        Box::pin(async move { Ok(found) })
    }
}

#[tokio::test]
async fn helpers_of_one_name_in_two_registries_are_two_files() -> Result<()> {
    let registry = |name: &str| {
        let files = [
            ("t.v1.py", name),
            ("t.v1.py.schema", "imports: [{path: helper.py}]"),
            ("helper.py", name),
        ];
        let files = files.map(|(name, text)| (name.to_owned(), text.to_owned())).into();
        let place = Place::Files { shown: format!("configmaps/{name}"), files };
        only(&format!("templates.example/{name}"), true, place).0
    };
    let (web, both) = (Web::new(Access::default())?, Several(vec![registry("a"), registry("b")]));
    let of = |name: &str| Wanted { name: format!("https://templates.example/{name}/t:v1") };
    for name in ["a", "b"] {
        let files = web.among(&both).fetch(&[of(name)]).await?;
        assert_eq!(&*files["helper.py"].content, name);
    }
    let error = web.among(&both).fetch(&[of("a"), of("b")]).await.unwrap_err();
    assert_eq!(error.to_string(), "helper.py: stands for two files");
    Ok(())
}
