//! How large a Deployment may be on etcd, and how one is refused that is larger: by the number of its resources before it
//! is stored, and by their size before anything of it is applied.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tests::installation::Store;

use crate::setting::{Setting, config_map, deployment, dmd, resources};

/// As many resources a Deployment may have.
const MOST: usize = 1_000;

/// How long that many objects may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(900);

/// A spec of so many ConfigMaps, whose names begin with a text.
fn config_maps(many: usize, name: &str) -> Value {
    let one = |at: usize| config_map(&format!("{name}-{at:04}"), &json!({ "at": at.to_string() }));
    let mut spec = resources(&Value::Array((0..many).map(one).collect()));
    spec["timeoutSeconds"] = PATIENCE.as_secs().into();
    spec
}

/// How many ConfigMaps there are whose names begin with a text.
fn count(setting: &Setting, name: &str) -> Result<usize> {
    let found = setting.kubectl.ok(&["get", "configmaps", "-o", "name"])?;
    Ok(found.lines().filter(|line| line.starts_with(&format!("configmap/{name}-"))).count())
}

/// Waits until a generation of the Deployment is deployed.
fn await_deployed(setting: &Setting, generation: u32) -> Result<()> {
    let path = ".status.observedGeneration} {.status.phase} {.status.conditions[?(@.type==\"Ready\")].message";
    let (began, mut failed) = (Instant::now(), 0);
    loop {
        let found = setting.read(&dmd("large"), path)?;
        if found.starts_with(&format!("{generation} Deployed")) {
            println!("generation {generation} after {:?}", began.elapsed());
            return Ok(());
        }
        let found: String = found.chars().take(300).collect();
        // One of thousands of requests may fail, and is made again in a moment.
        failed = if found.starts_with(&format!("{generation} Failed")) { failed + 1 } else { 0 };
        ensure!(failed < 20, "{found}");
        ensure!(began.elapsed() < PATIENCE, "{found}");
        std::thread::sleep(Duration::from_millis(500));
    }
}

#[test]
fn as_many_resources_as_may_be_are_carried_out_on_etcd_and_one_more_is_refused() -> Result<()> {
    let setting = Setting::on(Store::Etcd, &[])?;
    let kubectl = &setting.kubectl;
    let create = ["create", "-f", "-"];
    let refused = kubectl.refused(&create, &deployment("large", &config_maps(MOST + 1, "a")))?;
    let why =
        "spec.configuration: Invalid value: \"config:1\": Expansion needs more than 1000 resources";
    ensure!(refused.contains(why), "{refused}");
    ensure!(!setting.exists(&dmd("large"))?, "it was stored");

    kubectl.ok_with(&create, &deployment("large", &config_maps(MOST, "a")))?;
    await_deployed(&setting, 1)?;
    assert_eq!(count(&setting, "a")?, MOST);
    // Twice as many objects stand in the status before the first are gone.
    let other = json!({ "spec": config_maps(MOST, "b") }).to_string();
    let file = kubectl.file("large.json", &other)?;
    kubectl.ok(&["patch", &dmd("large"), "--type=merge", "--patch-file", &file])?;
    await_deployed(&setting, 2)?;
    assert_eq!((count(&setting, "a")?, count(&setting, "b")?), (0, MOST));
    let size = kubectl.ok(&["get", &dmd("large"), "-o", "json"])?.len();
    println!("{size} bytes of YAML and JSON");

    kubectl.ok(&["delete", &dmd("large"), "--timeout=900s"])?;
    assert_eq!(count(&setting, "b")?, 0);
    Ok(())
}

#[test]
fn a_manifest_that_etcd_does_not_take_is_told_and_nothing_of_it_is_applied() -> Result<()> {
    let setting = Setting::on(Store::Etcd, &[])?;
    let template = "resources:\n{% for at in range(40) %}- name: big-{{ at }}\n  type: ConfigMap\n  properties:\n    \
                    apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: big-{{ at }}}\n    \
                    data: {text: {{ 'x' * (properties.kib * 1024) }}}\n{% endfor %}";
    let spec = |kib: usize| {
        json!({
            "template": { "type": "big.jinja", "properties": { "kib": kib } },
            "imports": [{ "path": "big.jinja", "content": template }],
        })
    };
    setting.apply("big", &spec(64))?;
    let why = setting.await_refusal("big", "Planned", "Refused")?;
    let size = why.strip_prefix("its Manifest, of ").and_then(|why| why.split(' ').next());
    let size: usize = size.with_context(|| why.clone())?.parse()?;
    ensure!(size > 40 * 64 * 1024, "{why}");
    let end = " bytes, cannot be stored: Request entity too large: the object is larger than what the store takes";
    ensure!(why.ends_with(end), "{why}");
    assert_eq!(count(&setting, "big")?, 0, "{why}");
    assert_eq!(setting.read(&dmd("big"), ".status.resources")?, "");
    assert_eq!(setting.kubectl.ok(&["get", "manifests", "-o", "name"])?, "");

    // Less of it is carried out, and what is too large then changes nothing of that.
    setting.apply("big", &spec(1))?;
    setting.await_ready("big")?;
    assert_eq!(count(&setting, "big")?, 40);
    setting.apply("big", &spec(64))?;
    setting.await_refusal("big", "Planned", "Refused")?;
    assert_eq!(setting.read("configmap/big-0", ".data.text")?.len(), 1024);
    setting.kubectl.ok(&["delete", &dmd("big"), "--timeout=60s"])?;
    assert_eq!(count(&setting, "big")?, 0);
    Ok(())
}
