//! Memory in Python: of the heap, of the stack, of the parser.

use crate::attack::{Attack, CRASH, TOO_MUCH, TOO_SLOW, Want, guarded, walk};

const DEEP: Want = Want::Fault("RecursionError", "maximum recursion depth exceeded");

pub(crate) fn attacks() -> Vec<Attack> {
    let mut attacks: Vec<_> = TOO_BIG.iter().map(|body| guarded(body, body, TOO_MUCH)).collect();
    attacks.extend(recovered());
    attacks.extend(stack());
    attacks
}

/// A gibibyte at once, in steps, and by whatever makes much of little.
const TOO_BIG: &[&str] = &[
    "return {'s': 'x' * 2 ** 30}",
    "return {'s': 'a' * 10 ** 10}",
    "bytearray(2 ** 30)",
    "list(range(10 ** 9))",
    "a = []\nwhile True: a.append('x' * 10 ** 6)",
    "a = []\nwhile True: a.append([])",
    "s = 'x'\nwhile True: s += s",
    "import itertools\nlist(itertools.count())",
    "1 << (1 << 40)",
    "'%1000000000d' % 1",
    "'{:>10000000000}'.format('x')",
    "'x'.center(10 ** 10)",
    "'a'.replace('', 'x' * 10 ** 6).replace('x', 'y' * 10 ** 4)",
    "import zlib\nz = zlib.compress(b'0' * 10 ** 7)\na = []\nwhile True: a.append(zlib.decompress(z))",
    "d = {}\nfor i in range(10 ** 8): d[str(i)] = i",
    "class K(dict):\n  def items(self):\n    while True: yield str(id(object())), 'x' * 1000\nreturn {'l': list(K().items())}",
    "import textwrap\ntextwrap.indent('\\n'.join('x' * 10 ** 6), ' ' * 10 ** 4)",
    "import json\njson.dumps(list(range(10 ** 7)), indent=1000)",
    "import yaml\na = 'a: &a [x, x, x, x, x, x, x, x, x]\\n'\nfor i in range(9):\n  \
     a += '%s: &%s [%s]\\n' % ('bcdefghij'[i], 'bcdefghij'[i], ', '.join(['*' + 'abcdefghi'[i]] * 9))\n\
     return {'n': len(repr(yaml.safe_load(a)))}",
    "import decimal\ndecimal.getcontext().prec = 10 ** 9\ndecimal.Decimal(1) / 3",
];

fn recovered() -> [Attack; 3] {
    [
        guarded(
            "memory that is given back",
            "try: bytearray(2 ** 30)\nexcept MemoryError: return {'recovered': True}",
            Want::Data(r#"{"recovered":true}"#),
        ),
        guarded(
            "memory, with errors swallowed",
            "a = []\nwhile True:\n  try: a.append('x' * 10 ** 6)\n  except MemoryError: pass",
            TOO_SLOW,
        ),
        walk(
            "limits that are lifted",
            "sys.setrecursionlimit(10 ** 9)\nsys.set_int_max_str_digits(0)\nreturn {'ok': 1}",
            Want::Data(r#"{"ok":1}"#),
        ),
    ]
}

fn stack() -> Vec<Attack> {
    vec![
        guarded("a function that calls itself", "f = lambda: f()\nf()", DEEP),
        guarded("lists in JSON, a million deep", "import json\njson.loads('[' * 10 ** 6)", DEEP),
        guarded("lists in YAML, 600 deep", "import yaml\nyaml.safe_load('[' * 600)", DEEP),
        guarded(
            "groups of a regular expression, 50,000 deep",
            "import re\nre.compile('(' * 50000 + ')' * 50000)",
            DEEP,
        ),
        guarded(
            "comparing what is deep",
            "def deep():\n  a = []\n  for i in range(100000): a = [a]\n  return a\ndeep() == deep()",
            DEEP,
        ),
        guarded(
            "dropping what is deep",
            "a = []\nfor i in range(200000): a = [a]\ndel a\nreturn {'ok': 1}",
            Want::Data(r#"{"ok":1}"#),
        ),
        walk(
            "attributes of attributes, in C",
            "class A: pass\nA.__getattr__ = lambda self, n: getattr(self, n)\nsys.setrecursionlimit(10 ** 9)\nA().x",
            CRASH,
        ),
        guarded(
            "a program of deep brackets",
            "eval('(' * 10 ** 5)",
            Want::Fault("SyntaxError", "too many nested parentheses"),
        ),
        guarded("a program of deep operators", "eval('-' * 10 ** 6 + '1')", TOO_MUCH),
        guarded("a program of many numbers", "eval('[' + '1.5,' * 5000000 + ']')", TOO_MUCH),
    ]
}
