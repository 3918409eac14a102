//! Ten well-behaved expansions that go on beside the attacks, each with something that nobody else may see.

use std::sync::atomic::{AtomicBool, Ordering};

use expander::Pool;
use expansion::{Import, Imports};

use crate::attack::{Got, expand};

/// What stands in the inputs of companions, and in no outcome of an attack.
pub(crate) const SECRET: &str = "secret-of-a-neighbour";

const JINJA: &str = "\
{% import 'names.jinja' as names %}resources:
{% for zone in properties['zones'] %}- name: {{ names.of(env['name'], zone) }}
  type: v1.disk
  properties: {size: {{ 10 * loop.index }}, key: {{ properties['key'] }}}
{% endfor %}";
const NAMES: &str = "{% macro of(name, zone) %}{{ name }}-{{ zone|lower }}{% endmacro %}";

const PYTHON: &str = "\
import hashlib, yaml
import names

def generate_config(context):
  digest = hashlib.sha256(context.properties['key'].encode()).hexdigest()
  resources = [{'name': names.of(context.env['name'], zone), 'type': 'v1.disk',
                'properties': {'key': context.properties['key'], 'digest': digest}}
               for zone in context.properties['zones']]
  return yaml.dump({'resources': resources})
";
const PYTHON_NAMES: &str = "def of(name, zone): return '%s-%s' % (name, zone.lower())\n";

/// One of the ten.
pub(crate) struct Companion {
    configuration: String,
    imports: Imports,
}

/// All ten, half of them in each language.
pub(crate) fn ten() -> Vec<Companion> {
    let files = [
        ("web.jinja", JINJA),
        ("names.jinja", NAMES),
        ("web.py", PYTHON),
        ("names.py", PYTHON_NAMES),
    ];
    let companion = |number: usize| {
        let language = if number.is_multiple_of(2) { "jinja" } else { "py" };
        let configuration = format!(
            "resources:\n- name: web{number}\n  type: web.{language}\n  properties:\n    zones: [North, South]\n    key: {SECRET}-{number}\n"
        );
        let import = |(name, content): (&str, &str)| {
            (name.to_owned(), Import { path: String::new(), content: content.into() })
        };
        Companion { configuration, imports: files.map(import).into() }
    };
    (0..10).map(companion).collect()
}

impl Companion {
    /// Its expansion.
    pub(crate) async fn expand(&self, pool: &Pool) -> Got {
        expand(pool, self.configuration.clone(), self.imports.clone()).await
    }

    /// Expands until `over`: how often, and what was not as it was the first time.
    pub(crate) async fn live(
        &self,
        pool: &Pool,
        first: &Got,
        over: &AtomicBool,
    ) -> (u64, Vec<String>) {
        let (mut rounds, mut wrong) = (0, Vec::new());
        while !over.load(Ordering::Relaxed) && wrong.len() < 3 {
            let got = self.expand(pool).await;
            if got != *first {
                wrong.push(format!(
                    "{}\n    wanted {first:?}\n    got    {got:?}",
                    self.configuration
                ));
            }
            rounds += 1;
        }
        (rounds, wrong)
    }
}
