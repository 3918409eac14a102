//! Results and messages: huge, deep, endless, not data, and made to deceive whoever reads them.

use crate::attack::{Attack, Want, guarded, walk};

const NOT_DATA: fn(&'static str) -> Want = |part| Want::Fault("NotData", part);
const TOO_LONG: Want = Want::Fault("OutputLimit", "gives more than");

pub(crate) fn attacks() -> Vec<Attack> {
    let mut attacks = results();
    attacks.extend(messages());
    attacks
}

fn results() -> Vec<Attack> {
    vec![
        guarded("a result of 20 MB", "return {'s': 'x' * 20000000}", TOO_LONG),
        guarded("text of 20 MB", "return 'x' * 20000000", TOO_LONG),
        guarded("a result of many", "return {'l': list(range(200000))}", TOO_LONG),
        guarded("properties of 20 MB", "context.properties['x'] = 'x' * 20000000", TOO_LONG),
        guarded(
            "a result that is deep",
            "a = []\nfor i in range(100000): a = [a]\nreturn {'a': a}",
            NOT_DATA("nested deeper than 100 levels"),
        ),
        guarded(
            "a result that holds itself",
            "a = {}\na['a'] = a\nreturn a",
            NOT_DATA("or holds itself"),
        ),
        guarded(
            "little that is seen often",
            "a = ['x'] * 10\nfor i in range(12): a = [a] * 10\nreturn {'a': a}",
            Want::Fault("MemoryLimit", "more memory"),
        ),
        guarded("no number", "return {'n': float('nan')}", NOT_DATA("no number in JSON")),
        guarded(
            "a number that is too long",
            "return {'n': 2 ** 64}",
            NOT_DATA("does not fit into 64 bits"),
        ),
        guarded("half a character", "return {'s': '\\ud800'}", NOT_DATA("not Unicode")),
        guarded("half a character in text", "return 'a: \\udfff'", NOT_DATA("not Unicode")),
        guarded("an object", "return {'o': object()}", NOT_DATA("which is not data")),
        guarded("an object as a key", "return {object(): 1}", NOT_DATA("which is not data")),
        guarded(
            "a function",
            "return lambda: 0",
            Want::Fault("TypeError", "must return dict, str"),
        ),
        guarded(
            "an iterator without end",
            "import itertools\nreturn {'i': itertools.count()}",
            NOT_DATA("which is not data"),
        ),
        guarded("nothing", "pass", Want::Data("null")),
        walk(
            "a dictionary that is never over",
            "class K(dict):\n  def items(self):\n    n = 0\n    while True:\n      n += 1\n      yield str(n), str(n) * 10000\n\
             return K()",
            Want::Fault("MemoryLimit", "more memory"),
        ),
        guarded(
            "30 MB that are printed",
            "for i in range(30): print('x' * 1000000)\nreturn {'ok': 1}",
            Want::Data(r#"{"ok":1}"#),
        ),
    ]
}

fn messages() -> Vec<Attack> {
    vec![
        guarded(
            "a message that redraws a terminal",
            "raise ValueError('\\x1b[2J\\x1b]0;owned\\x07\\r\\nlevel=info')",
            Want::Fault("ValueError", "\\x1b[2J\\x1b]0;owned\\x07\\r level=info"),
        ),
        guarded(
            "a message that is read backwards",
            "raise ValueError('a\\u202eb\\u2028c')",
            Want::Fault("ValueError", "a\\u202eb\\u2028c"),
        ),
        guarded(
            "an exception whose name redraws a terminal",
            "raise type('\\x1b[2JE', (Exception,), {})('x')",
            Want::Fault("\\x1b[2JE", "x"),
        ),
        guarded(
            "a message of 20 MB",
            "raise ValueError('x' * 20000000)",
            Want::Fault("ValueError", "xxxx"),
        ),
        guarded(
            "a message that fails",
            "class E(Exception):\n  def __str__(self): raise E()\nraise E()",
            Want::Fault("E", "<unprintable E>"),
        ),
        guarded(
            "a message that asks to end",
            "class E(Exception):\n  def __str__(self): raise SystemExit(0)\nraise E()",
            Want::Fault("Broken", "broke the interpreter that reports its errors"),
        ),
        guarded(
            "the end of the program",
            "raise SystemExit('bye')",
            Want::Fault("SystemExit", "bye"),
        ),
        guarded(
            "an exception that nobody catches",
            "raise BaseException('bye')",
            Want::Fault("BaseException", "bye"),
        ),
        guarded(
            "an interrupt",
            "raise KeyboardInterrupt('bye')",
            Want::Fault("KeyboardInterrupt", "bye"),
        ),
        guarded(
            "a trace of 900 frames",
            "f = lambda n: f(n - 1) if n else 1 // 0\nf(900)",
            Want::Fault("ZeroDivisionError", "integer division or modulo by zero"),
        ),
        guarded(
            "a file that pretends to be another",
            "exec(compile('\\n1/0', '/etc/shadow', 'exec'))",
            Want::Fault("ZeroDivisionError", "division by zero"),
        ),
    ]
}
