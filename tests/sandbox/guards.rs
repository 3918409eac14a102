//! The guards of the language, and the ways round them: none of those may lead anywhere.

use expansion::Language::Python;

use crate::attack::{Attack, CRASH, REFUSED, Want, files, function, guarded, source, walk};

const MISSING: Want =
    Want::Fault("ModuleNotFoundError", "a template can import what its configuration imports, and");

pub(crate) fn attacks() -> Vec<Attack> {
    let mut attacks: Vec<_> =
        ["os", "posix", "ctypes", "socket", "subprocess", "importlib", "threading", "mmap"]
            .into_iter()
            .map(|module| {
                guarded(&format!("import {module}"), &format!("import {module}"), MISSING)
            })
            .collect();
    attacks.extend(by_name());
    attacks.extend(around());
    attacks.extend(helpers());
    attacks
}

fn by_name() -> [Attack; 5] {
    let absent =
        |name| guarded(name, &format!("{name}()"), Want::Fault("NameError", "is not defined"));
    [
        guarded("__import__", "__import__('os').system('id')", MISSING),
        source(
            "a relative import",
            "from . import os\n",
            Want::Fault("ImportError", "attempted relative import"),
        ),
        absent("input"),
        absent("breakpoint"),
        absent("exit"),
    ]
}

fn around() -> Vec<Attack> {
    vec![
        guarded(
            "os.system through the subclasses of object",
            SUBCLASSES,
            Want::Data(r#"{"status":32512}"#),
        ),
        guarded(
            "builtins of a function of a library",
            "import textwrap\ntextwrap.dedent.__globals__['__builtins__']['open']('/etc/passwd')",
            REFUSED,
        ),
        walk(
            "a module that is hidden in another",
            "modules['os'].popen('id')",
            Want::Fault("ModuleNotFoundError", "No module named 'subprocess'"),
        ),
        walk(
            "the path of modules put back",
            "e = modules['_frozen_importlib_external']\nsys.path[:] = ['/usr/lib/python3.11', \
             '/usr/lib/python3.11/lib-dynload']\n\
             sys.path_hooks[:] = [e.FileFinder.path_hook((e.SourceFileLoader, ['.py']))]\n\
             sys.meta_path[:] = [e.PathFinder]\nmodules['builtins'].__import__('ctypes')",
            Want::Fault("ModuleNotFoundError", "No module named 'ctypes'"),
        ),
        walk(
            "a library of machine code",
            "class spec: name = '_ctypes'; origin = '/usr/lib/python3.11/lib-dynload/_ctypes.so'\n\
             modules['_imp'].create_dynamic(spec)",
            Want::Fault("ImportError", "Operation not permitted"),
        ),
        walk(
            "every module that is built in",
            "failed = []\nfor name in sys.builtin_module_names:\n  try: load(name)\n  \
             except (ImportError, SystemError): failed.append(name)\nreturn {'done': True}",
            Want::Data(r#"{"done":true}"#),
        ),
        guarded(
            "an object that PyYAML makes",
            "import yaml\nreturn {'status': yaml.load('!!python/object/apply:posix.system [id]', \
             Loader=yaml.UnsafeLoader)}",
            Want::Data(r#"{"status":32512}"#),
        ),
        guarded(
            "an object that PyYAML makes without being asked",
            "import yaml\nyaml.load('!!python/object/apply:posix.system [id]')",
            Want::Fault("ConstructorError", "could not determine a constructor"),
        ),
        walk("bytecode that is none", BYTECODE, CRASH),
        walk("a constant out of bounds", CONSTANT, CRASH),
        walk("code out of random bytes", MARSHAL, Want::Data(r#"{"survived":true}"#)),
        walk(
            "the harness's own functions, changed",
            "modules['formwork_results'].data = lambda value: {'mine': 1}",
            Want::Data(r#"{"mine":1}"#),
        ),
        walk(
            "the harness's own variables",
            "f, names = sys._getframe(), []\nwhile f:\n  names += f.f_locals\n  f = f.f_back\n\
             return {'secrets': [n for n in names if 'key' in n or 'token' in n]}",
            Want::Data(r#"{"secrets":[]}"#),
        ),
        walk(
            "hooks that see everything",
            "sys.addaudithook(lambda *a: None)\nsys.setprofile(lambda *a: None)\nsys.settrace(lambda *a: None)\n\
             return {'ok': 1}",
            Want::Data(r#"{"ok":1}"#),
        ),
        walk(
            "functions that run at the end",
            "modules['atexit'].register(posix.write, 3, b'forged')\nreturn {'ok': 1}",
            Want::Data(r#"{"ok":1}"#),
        ),
        guarded(
            "the machine's paths",
            "import json, yaml\nreturn {'paths': [repr(json), repr(yaml), json.__spec__.origin, json.__path__]}",
            Want::Data(r#"{"paths":["<module 'json'>","<module 'yaml'>",null,[]]}"#),
        ),
        guarded(
            "a codec that would have to be loaded",
            "'x'.encode('cp037')",
            Want::Fault("LookupError", "unknown encoding: cp037"),
        ),
    ]
}

fn helpers() -> Vec<Attack> {
    let shadowed = "is a module of Python and an import of this configuration";
    vec![
        files(
            "a helper with the name of a library",
            Python,
            &[("attack.py", "import json\n"), ("json.py", "x = 1\n")],
            Want::Fault("ImportError", shadowed),
        ),
        files(
            "a helper in a package with the name of a library",
            Python,
            &[("attack.py", "from yaml import evil\n"), ("yaml/evil.py", "x = 1\n")],
            Want::Fault("ImportError", shadowed),
        ),
        files(
            "a helper with the name of a module that is kept away",
            Python,
            &[
                ("attack.py", &format!("import os\n{}", function("return {'mine': os.mine}"))),
                ("os.py", "mine = True\n"),
            ],
            Want::Data(r#"{"mine":true}"#),
        ),
        files(
            "helpers that import each other",
            Python,
            &[
                ("attack.py", "import b\n"),
                ("b.py", "import c\nc.x\n"),
                ("c.py", "import b\nb.x\n"),
            ],
            Want::Fault("AttributeError", "has no attribute 'x'"),
        ),
        files(
            "a helper that opens a file when it is imported",
            Python,
            &[("attack.py", "import h\n"), ("h.py", "import io\nio.open('/etc/passwd')\n")],
            REFUSED,
        ),
        files(
            "a helper outside of the configuration's folder",
            Python,
            &[("attack.py", "open('../../etc/passwd')\n"), ("../h.py", "")],
            Want::Fault("PermissionError", "I/O is not permitted"),
        ),
    ]
}

const SUBCLASSES: &str = "\
for c in ().__class__.__base__.__subclasses__():
  if c.__name__ == '_wrap_close':
    return {'status': c.__init__.__globals__['system']('id')}
return {'status': 'there is no way'}";

const BYTECODE: &str = "\
f = lambda: 0
f.__code__ = f.__code__.replace(co_code=b'\\xff\\xff' * 64)
f()";

const CONSTANT: &str = "\
f = lambda: 0
f.__code__ = f.__code__.replace(co_code=b'\\x64\\xff' * 64, co_consts=())
f()";

const MARSHAL: &str = "\
marshal = load('marshal')
import random
for i in range(2000):
  try: marshal.loads(bytes(random.randrange(256) for _ in range(64)))
  except Exception: pass
return {'survived': True}";
