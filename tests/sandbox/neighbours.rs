//! What one call leaves for the next one in the same process, and in the same worker: nothing.

use anyhow::{Result, ensure};
use expander::Pool;
use expansion::{Import, Imports, Language};

use crate::attack::{Got, call, function, render};
use crate::census::Census;
use crate::companions::SECRET;

/// A call of the first of these files.
async fn run(pool: &Pool, language: Language, files: &[(&str, &str)]) -> Got {
    let import = |(name, content): &(&str, &str)| {
        ((*name).to_owned(), Import { path: String::new(), content: (*content).into() })
    };
    let imports: Imports = files.iter().map(import).collect();
    let mut call = call(language, files[0].0, imports);
    let env = [("deployment", files[0].1), ("project", "p")];
    call.env.extend(env.map(|(key, value)| (key.to_owned(), value.into())));
    render(pool, call).await
}

/// Jinja's process is kept, so its next template looks for what the last one had.
pub(crate) async fn jinja_leaves_nothing(pool: &Pool) -> Result<()> {
    let tenant = format!(
        "{{% set secret = '{SECRET}' %}}{{% macro m() %}}{SECRET}{{% endmacro %}}{{% include 'shared.jinja' %}}\
         {{% block b %}}{SECRET}{{% endblock %}}{{{{ cycler('{SECRET}').next() }}}}"
    );
    let files = [("t.jinja", tenant.as_str()), ("shared.jinja", SECRET)];
    let before = run(pool, Language::Jinja, &files).await;
    ensure!(matches!(&before, Got::Text(text) if text.contains(SECRET)), "{before:?}");
    let kept = Census::when(|census| census.children.len() == 1).await?.children;

    let thief = "{{ secret }}{{ m }}{{ self.b }}{{ shared }}{{ env }}{{ properties }}{{ imports }}{{ context }}";
    let thefts: [&[(&str, &str)]; 5] = [
        &[("t.jinja", thief)],
        &[("t.jinja", "{% include 'shared.jinja' %}")],
        &[("t.jinja", "{% include 'shared.jinja' ignore missing %}")],
        &[("t.jinja", "{% import 'shared.jinja' as s %}{{ s.m() }}"), ("shared.jinja", "mine")],
        &[("t.jinja", "{% include 'shared.jinja' %}"), ("shared.jinja", "mine")],
    ];
    for files in thefts {
        let got = run(pool, Language::Jinja, files).await;
        ensure!(!format!("{got:?}").contains(SECRET), "{files:?} saw {got:?}");
    }
    let own = run(pool, Language::Jinja, thefts[4]).await;
    ensure!(own == Got::Text("mine".into()), "a file of that name was another's: {own:?}");
    let still = Census::take()?.children;
    ensure!(
        still == kept,
        "the process was not kept ({kept:?}, now {still:?}), so nothing was shown"
    );
    Ok(())
}

/// Python's processes are used once; what they share is the worker, which never sees a call.
pub(crate) async fn python_leaves_nothing(pool: &Pool) -> Result<()> {
    let leave = format!(
        "import json, yaml, random\njson.left = '{SECRET}'\nyaml.SafeLoader.left = '{SECRET}'\n\
         modules = json.codecs.sys.modules\nmodules['left'] = '{SECRET}'\nmodules['builtins'].left = '{SECRET}'\n\
         modules['posix'].environ['left'] = '{SECRET}'\nmodules['formwork_harness'].render = None\n\
         json.loads = None\nreturn {{'left': True}}"
    );
    let look = "\
import json, yaml
modules = json.codecs.sys.modules
found = [hasattr(json, 'left'), hasattr(yaml.SafeLoader, 'left'), 'left' in modules,
  hasattr(modules['builtins'], 'left'), len(modules['posix'].environ), json.loads('1')]
class spec: name = 'gc'; origin = None
gc = modules['_imp'].create_builtin(spec)
modules['_imp'].exec_builtin(gc)
gc.unfreeze()
needle = 'secret-of-a-' + 'neighbour'
seen = [o for o in gc.get_objects() if isinstance(o, dict)
  for v in list(o.values()) if isinstance(v, str) and needle in v and v != needle]
return {'found': found, 'seen': seen}";
    let nothing = Got::Data(r#"{"found":[false,false,false,false,0,1],"seen":[]}"#.into());
    for _ in 0..3 {
        let left = run(pool, Language::Python, &[("t.py", &function(&leave))]).await;
        ensure!(left == Got::Data(r#"{"left":true}"#.into()), "{left:?}");
        let looked = run(pool, Language::Python, &[("t.py", &function(look))]).await;
        ensure!(looked == nothing, "{looked:?}");
    }
    Ok(())
}
