//! Processor time in Python: loops of the language, of C code, and of regular expressions.

use crate::attack::{Attack, CRASH, REFUSED, TOO_SLOW, Want, guarded, walk};

pub(crate) fn attacks() -> Vec<Attack> {
    let mut attacks: Vec<_> = ENDLESS.iter().map(|body| guarded(body, body, TOO_SLOW)).collect();
    attacks.extend([
        guarded("sleep", "import time\ntime.sleep(100)", REFUSED),
        guarded(
            "wait for the clock",
            "import time\nend = time.monotonic() + 0.001\nwhile time.monotonic() < end: pass\nreturn {'waited': True}",
            Want::Data(r#"{"waited":true}"#),
        ),
        guarded("wait for a clock that stands", "import time\nend = time.time() + 1\nwhile time.time() < end: pass", TOO_SLOW),
        // There is no futex; the C library ends the process.
        walk("a lock that is taken twice", "l = modules['_thread'].allocate_lock()\nl.acquire()\nl.acquire()", CRASH),
        walk("a lock that is waited for", "l = modules['_thread'].allocate_lock()\nl.acquire()\nl.acquire(True, 100)", CRASH),
        walk(
            "refused system calls without end",
            "while True:\n  try: posix.getcwd()\n  except OSError: pass",
            TOO_SLOW,
        ),
        walk("digits without the limit on them", "sys.set_int_max_str_digits(0)\nstr(7 ** 9000000)", TOO_SLOW),
        guarded("digits", "str(7 ** 100000)", Want::Fault("ValueError", "Exceeds the limit (4300 digits)")),
        guarded("a regular expression of many repeats", "import re\nre.compile('(a{1,1000}){1,1000}')\nreturn {'n': 1}", Want::Data(r#"{"n":1}"#)),
    ]);
    attacks
}

const ENDLESS: &[&str] = &[
    "while True: pass",
    "while True:\n  try:\n    while True: pass\n  except BaseException: pass",
    "len(str(9 ** 9 ** 9))",
    "sum(range(10 ** 12))",
    "import math\nmath.factorial(10 ** 8)",
    "import re\nre.match('(a*)*b', 'a' * 40)",
    "import re\nre.match(r'(.+)+\\1x', 'a' * 40)",
    "import re\nre.sub('(x+x+)+y', '', 'x' * 60)",
    "import itertools, collections\ncollections.deque(itertools.count(), maxlen=0)",
    "import hashlib\nhashlib.pbkdf2_hmac('sha256', b'x', b'x', 10 ** 9)",
    "import unicodedata\nunicodedata.normalize('NFC', '\\u0300\\u0316' * 200000)",
    "p = 2 ** 61 - 1\nd = {i * p: 0 for i in range(1, 60000)}",
    "class E(Exception):\n  def __str__(self):\n    while True: pass\nraise E()",
    "class D:\n  def __del__(self):\n    while True: pass\nD()",
    "class K(dict):\n  def items(self):\n    while True: yield 'a', 1\nfor _ in K().items(): pass",
];
