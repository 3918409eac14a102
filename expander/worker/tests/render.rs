//! What templates give, and how they fail, through the real worker.

#[allow(dead_code, unreachable_pub, clippy::unwrap_used)]
mod rig;

use expansion::{Language, Text, Value};
use protocol::{Answer, Ask, Mode, Notice, Order};
use rig::{Worker, ask, exchange, python, template};

#[test]
fn a_template_is_rendered_with_its_context_and_helpers() {
    let source = "
import yaml
import helpers.names
def GenerateConfig(context):
  context.properties['seen'] = True
  names = [helpers.names.name(context.env, i) for i in xrange(context.properties['size'])]
  return yaml.dump({'resources': [{'name': n, 'type': context.imports['kind.txt']} for n in names]})
";
    let helper =
        "def name(env, i):\n  return '-'.join([v for k, v in env.iteritems()] + [str(i)])\n";
    let files = [("t.py", source), ("helpers/names.py", helper), ("kind.txt", "Pod")];
    let answer = Worker::start(&[]).answer(&ask(Language::Python, &files));
    let Answer::Text { text, properties, .. } = answer else { panic!("{answer:?}") };
    assert_eq!(text, "resources:\n- name: d-n-0\n  type: Pod\n- name: d-n-1\n  type: Pod\n");
    assert_eq!(properties, Some(Value::from_json(r#"{"size":2,"seen":true}"#).unwrap()));
}

#[test]
fn a_helper_may_have_any_name_but_that_of_a_module_that_templates_import() {
    let mut worker = Worker::start(&[]);
    let mut import = |name: &str| {
        let module = name.trim_end_matches(".py").trim_end_matches("/__init__").replace('/', ".");
        let source = format!("import {module} as m\ndef GenerateConfig(c): return {{'a': m.x}}\n");
        let files = [("t.py", source.as_str()), (name, "x = 1\n")];
        worker.answer(&ask(Language::Python, &files))
    };
    // Python itself has modules of these names; a helper hides them from templates, and from nobody else.
    for name in ["os.py", "token.py", "a/b.py", "json_.py", "sys.py", "p/__init__.py"] {
        let answer = import(name);
        assert!(matches!(answer, Answer::Data { .. }), "{name}: {answer:?}");
    }
    let answer = import("json.py");
    let Answer::Fault(fault) = answer else { panic!("{answer:?}") };
    assert_eq!(
        fault.message,
        "'json' is a module of Python and an import of this configuration; rename the import"
    );
}

#[test]
fn yaml_is_the_same_text_whichever_half_of_pyyaml_wrote_it() {
    // `dump_all` is never the quick one.
    let source = r##"
import collections, random, yaml
CHARACTERS = 'ab c:-#\n\'{}[]%@`,\u00e9 \t0.1~*&|>\\\r\u2028\u0085!"'
WORDS = ['', '~', '1', '1.5', '1:30', 'yes', 'a: b', '- x', 'x' * 130, 'a\nb', 'a\n', '\n', ' a', 'a ', "it's", '<<', '=']
class Odd(object): pass
def text(r):
  if r.random() < .4: return ''.join(r.choice(CHARACTERS) for _ in range(r.choice([0, 1, 8, 100])))
  return ' '.join(r.choice(WORDS) for _ in range(r.choice([1, 1, 2, 30])))
def value(r, depth):
  kind = r.random()
  if not depth or kind < .4: return r.choice([text(r), text(r), text(r), 1, -2.5, 1e20, True, None, 10**20])
  if kind < .7: return [value(r, depth - 1) for _ in range(r.randint(0, 4))]
  return {text(r): value(r, depth - 1) for _ in range(r.randint(0, 4))}
def generate_config(c):
  yaml.add_representer(Odd, lambda dumper, odd: dumper.represent_str('odd'))
  r, shared = random.Random(1), ['x']
  values = [value(r, 5) for _ in range(300)] + [{'a': shared, 'b': shared}, [Odd()]]
  for one in values:
    for options in [{}, {'default_flow_style': False}, {'default_flow_style': True}, {'sort_keys': False}, {'width': 20}]:
      quick, slow = yaml.dump(one, **options), yaml.dump_all([one], **options)
      assert quick == slow, (one, options, quick, slow)
  assert yaml.safe_dump({'b': [1], 'a': None}) == 'a: null\nb:\n- 1\n'
  return {'resources': []}
"##;
    let answer = Worker::start(&["--cpu", "20000"]).answer(&python(source));
    assert!(matches!(answer, Answer::Data { .. }), "{answer:?}");
}

#[test]
fn helpers_load_once_and_find_each_other() {
    let source = "
import p
from p import one
from p.two import *
def GenerateConfig(c):
  return {'same': p.one is one, 'n': one.loads, 'two': two(), 'text': open('kind.txt').read()}
";
    let files = [
        ("t.py", source),
        ("p/one.py", "import p.two\nloads = 0\nloads += 1\n"),
        ("p/two.py", "import p.one\ndef two(): return p.one.loads + 1\n"),
        ("kind.txt", "Pod"),
    ];
    let answer = Worker::start(&[]).answer(&ask(Language::Python, &files));
    let Answer::Data { value, .. } = answer else { panic!("{answer:?}") };
    assert_eq!(value.to_json(), r#"{"same":true,"n":1,"two":2,"text":"Pod"}"#);
}

#[test]
fn habits_of_python_2_are_understood_or_explained() {
    let mut worker = Worker::start(&[]);
    let source = template(
        "import sys\nreturn {'v': sys.version_info[0], 'p': sys.path, 'm': hasattr(sys, 'modules')}",
    );
    let answer = worker.answer(&python(&source));
    assert!(
        matches!(&answer, Answer::Data { value, .. } if value.to_json() == r#"{"v":3,"p":[],"m":false}"#),
        "{answer:?}"
    );
    let source = template(
        "d = {'b': 1}
e = {'a': 2}
return {'i': [k for k, v in d.iteritems()] + list(e.iterkeys()) + list(e.itervalues()), 'h': d.has_key('b'),
  'n': [unicode(1), long(2), unichr(97), reduce(lambda x, y: x + y, xrange(4)), isinstance('', basestring)]}",
    );
    let answer = worker.answer(&python(&source));
    let Answer::Data { value, .. } = answer else { panic!("{answer:?}") };
    assert_eq!(value.to_json(), r#"{"i":["b","a",2],"h":true,"n":["1",2,"a",6,true]}"#);
    for old in [
        "print 'x'",
        "try: pass\nexcept ValueError, e: pass",
        "x = `1`",
        "if 1 <> 2: pass",
        "x = 0644",
        "exec 'x'",
        "import urllib2",
        "return {'a': {}.keys()[0]}",
        "{}.keys().sort()",
        "return ValueError('x').message",
        "raise ValueError, 'x'",
        "x = 10L",
    ] {
        let fault = worker.fault(&template(old));
        assert!(
            fault.hint.is_some_and(|hint| hint.contains("Python 3")),
            "{old}: {}",
            fault.message
        );
    }
    assert_eq!(worker.fault(&template("x = = 1")).hint, None);
}

#[test]
fn only_data_comes_back() {
    let mut worker = Worker::start(&[]);
    let mut value = |result: &str| match worker.answer(&python(&template(result))) {
        Answer::Data { value, .. } => value.to_json(),
        Answer::Fault(fault) => fault.message,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        value(
            "import datetime\nreturn {1: (2, {'b', 'a'}), 'd': datetime.date(2016, 1, 4), 'n': None}"
        ),
        r#"{"1":[2,["a","b"]],"d":"2016-01-04","n":null}"#
    );
    assert_eq!(
        value("return [1]"),
        "Python expansion must return dict, str or unicode type, but was <class 'list'>"
    );
    assert!(value("return {'a': 2 ** 64}").contains("64 bits"));
    assert!(value("return {'a': float('nan')}").contains("nan"));
    assert!(value(r"return {'a': '\ud800'}").contains("not Unicode"));
    assert!(value("a = {}\na['a'] = a\nreturn a").contains("holds itself"));
    assert!(value("return {'a': object()}").contains("not data"));
}

#[test]
fn yaml_is_loaded_without_a_loader_as_it_once_was() {
    let mut worker = Worker::start(&[]);
    let mut loaded = |text: &str| {
        let result = format!("import yaml\nreturn {{'is': yaml.load({text:?})}}");
        match worker.answer(&python(&template(&result))) {
            Answer::Data { value, .. } => value.to_json(),
            Answer::Fault(fault) => fault.kind,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(loaded("a: [1]"), r#"{"is":{"a":[1]}}"#);
    assert_eq!(loaded("!!python/object/apply:os.getcwd []"), "ConstructorError");
}

#[test]
fn a_fault_names_files_and_lines_and_no_path_of_the_machine() {
    let mut worker = Worker::start(&[]);
    let fault =
        worker.fault("import yaml\ndef generate_config(c):\n  return yaml.safe_load('a: [')\n");
    assert_eq!(fault.kind, "ParserError");
    let own = &fault.frames[0];
    assert_eq!(
        (own.file.as_str(), own.line, own.function.as_str()),
        ("t.py", 3, "generate_config")
    );
    assert_eq!(own.text, "return yaml.safe_load('a: [')");
    assert!(fault.frames[1..].iter().all(|frame| frame.file.starts_with("<python:yaml")));
    let shown = format!("{fault:?}");
    assert!(!shown.contains("/usr") && !shown.contains("formwork"), "{shown}");

    let fault = worker.fault(&template(
        "import traceback, yaml, json
try: yaml.safe_load('a: [')
except Exception:
  try: json.loads('[')
  except Exception: raise ValueError(traceback.format_exc() + repr(json) + repr(json.codecs.open.__code__))",
    ));
    assert!(fault.message.contains("<python:json.decoder>"), "{}", fault.message);
    assert!(
        !fault.message.contains("/usr") && !fault.message.contains("/lib"),
        "{}",
        fault.message
    );

    let fault = worker.fault("x = 1\nprint 'old'\n");
    assert_eq!((fault.kind.as_str(), fault.frames[0].line), ("SyntaxError", 2));
    assert!(fault.hint.unwrap().contains("Python 2"));
    let fault = worker.fault(&template(r"raise ValueError('\x1b[2Jred\nline')"));
    assert_eq!(fault.message, r"\x1b[2Jred line");
    assert!(worker.fault("x = 1\n").message.contains("GenerateConfig"));
}

#[test]
fn the_same_call_gives_the_same_bytes_in_any_worker() {
    let source = template(
        "import random, time, datetime, hashlib
return {'r': random.random(), 't': time.time(), 'd': str(datetime.datetime.now()), 'l': time.strftime('%H:%M %Z'),
  's': [x for x in {'a', 'b', 'c', 'd'}], 'h': hash('x'), 'm': hashlib.md5(b'x').hexdigest(), 'p': time.monotonic(),
  'q': random.Random().random()}",
    );
    let render = |worker: &mut Worker| match worker.answer(&python(&source)) {
        Answer::Data { value, .. } => value.to_json(),
        other => panic!("{other:?}"),
    };
    let mut first = Worker::start(&[]);
    let once = render(&mut first);
    assert!(once.contains(r#""t":1451606400.0"#) && once.contains("00:00 UTC"), "{once}");
    assert_eq!(render(&mut first), once);
    assert_eq!(render(&mut Worker::start(&["--no-namespaces"])), once);
}

#[test]
fn nothing_is_left_of_a_call_for_the_next() {
    let mut worker = Worker::start(&[]);
    let source =
        template("import json\nold = getattr(json, 'mark', 0)\njson.mark = 1\nreturn {'old': old}");
    for _ in 0..2 {
        let Answer::Data { value, .. } = worker.answer(&python(&source)) else { panic!() };
        assert_eq!(value.to_json(), r#"{"old":0}"#);
    }
}

#[test]
fn more_than_may_be_answered_is_a_fault_and_not_an_answer() {
    let mut ask = python(&template("return 'x' * 5000"));
    ask.bounds.output = 4096;
    let answer = Worker::start(&[]).answer(&ask);
    assert!(matches!(&answer, Answer::Fault(fault) if fault.kind == "OutputLimit"), "{answer:?}");
}

#[test]
fn python_2_is_translated_by_a_worker_that_was_started_for_it() {
    let mut old = python("def f(d):\n  print d, 0644\n  raise E, 'x'\n");
    old.mode = Mode::Convert;
    let answer = Worker::start(&["--convert"]).answer(&old);
    let Answer::Text { text, .. } = answer else { panic!("{answer:?}") };
    assert_eq!(text, "def f(d):\n  print(d, 0o644)\n  raise E('x')\n");
    let answer = Worker::start(&[]).answer(&old);
    assert!(matches!(&answer, Answer::Fault(fault) if fault.kind == "Unsupported"), "{answer:?}");
}

/// What the worker compiles the template of `ask` to.
fn compiled(worker: &mut Worker, ask: &Ask) -> Text {
    let answer = worker.answer(&Ask { mode: Mode::Compile, ..ask.clone() });
    let Answer::Text { text, .. } = answer else { panic!("{answer:?}") };
    text.into()
}

#[test]
fn compiled_code_renders_and_fails_as_its_source_does() {
    let mut worker = Worker::start(&[]);
    for body in [
        "return {'keys': [k for k, v in context.env.iteritems()], 'text': isinstance('', unicode)}",
        "import random, h\nreturn 'a: %s%s\\n' % (random.random(), h.f())",
        "def inner(x): return 1 / x\nreturn {'x': inner(0)}",
        "import yaml\nyaml.safe_load('a: [')",
    ] {
        let source = template(body);
        let helper = "def f():\n  return [x for x in xrange(3)]\n";
        let mut ask = ask(Language::Python, &[("t.py", source.as_str()), ("h.py", helper)]);
        let plain = worker.answer(&ask);
        ask.code.insert("t.py".to_owned(), compiled(&mut worker, &ask));
        let mut alone = ask.clone();
        alone.call.template = "h.py".to_owned();
        ask.code.insert("h.py".to_owned(), compiled(&mut worker, &alone));
        assert_eq!(worker.answer(&ask), plain, "{body}");
    }
}

#[test]
fn a_template_is_not_run_to_be_compiled() {
    let mut ask = python("raise ValueError('run')\n");
    let mut worker = Worker::start(&[]);
    compiled(&mut worker, &ask);
    ask.mode = Mode::Compile;
    ask.call.imports = python("def f(:\n").call.imports;
    let answer = worker.answer(&ask);
    assert!(matches!(&answer, Answer::Fault(fault) if fault.kind == "SyntaxError"), "{answer:?}");
}

#[test]
fn code_that_this_interpreter_did_not_write_is_compiled_from_its_source() {
    let mut worker = Worker::start(&[]);
    let result = |answer| match answer {
        Answer::Data { value, .. } => value.to_json(),
        other => panic!("{other:?}"),
    };
    let mut ask = python(&template("return {'source': 1}"));
    let other = compiled(&mut worker, &python(&template("return {'other': 2}")));
    // Code is used unread, which is why it has to come from nothing but its source.
    ask.code.insert("t.py".to_owned(), other.clone());
    assert_eq!(result(worker.answer(&ask)), r#"{"other":2}"#);
    let another = format!("AAAA{}", &other[4..]);
    for wrong in ["", "!", "AAAA", &other[..other.len() - 8], &another] {
        ask.code.insert("t.py".to_owned(), wrong.into());
        assert_eq!(result(worker.answer(&ask)), r#"{"source":1}"#, "{wrong}");
    }
}

#[test]
fn a_session_takes_many_calls_of_jinja_and_none_of_python() {
    let mut worker = Worker::start(&[]);
    let (mut channel, _pidfd) = worker.child(true);
    for _ in 0..3 {
        let ask = ask(Language::Jinja, &[("t.jinja", "a: {{ name }} {{ env['deployment'] }}")]);
        let answer = exchange(&mut channel, &ask);
        assert!(
            matches!(&answer, Some(Answer::Text { text, .. }) if text == "a: n d"),
            "{answer:?}"
        );
    }
    let answer = exchange(&mut channel, &python("def GenerateConfig(c): return {}\n"));
    assert!(
        matches!(&answer, Some(Answer::Fault(fault)) if fault.kind == "Internal"),
        "{answer:?}"
    );
    drop(channel);
    assert_eq!(worker.ended().code, Some(0));
}

#[test]
fn the_worker_answers_pings_and_ends_when_it_is_told_to() {
    let mut worker = Worker::start(&[]);
    worker.order(Order::Ping, None);
    assert_eq!(worker.notice().0, Notice::Pong);
    worker.order(Order::Quit, None);
    assert!(worker.try_notice().unwrap().is_none());
    assert!(worker.process.wait().unwrap().success());
}

#[test]
fn two_hundred_calls_leave_no_descriptor_and_no_child_behind() {
    let mut worker = Worker::start(&["--no-namespaces"]);
    let process = format!("/proc/{}", worker.process.id());
    let mut memory = Vec::new();
    for _ in 0..2 {
        for _ in 0..100 {
            worker.answer(&python("def GenerateConfig(c): return {}\n"));
        }
        let status = std::fs::read_to_string(format!("{process}/status")).unwrap();
        let line = |name: &str| {
            status.lines().find(|line| line.starts_with(name)).map(str::to_owned).unwrap()
        };
        // Who is not root may not look at the descriptors of a process that cannot be dumped.
        let descriptors = std::fs::read_dir(format!("{process}/fd")).map(Iterator::count).ok();
        memory.push((line("VmData"), descriptors, line("Threads")));
        let children =
            std::fs::read_to_string(format!("{process}/task/{}/children", worker.process.id()));
        assert_eq!(children.unwrap_or_default().trim(), "");
    }
    assert_eq!(memory[0], memory[1]);
}
