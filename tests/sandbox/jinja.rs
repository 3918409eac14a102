//! Jinja: ways out of the language, work without end, and memory without end.

use expansion::Language::Jinja;

use crate::attack::{Attack, Want, files, jinja};

/// The wall around memory. Jinja's process cannot say more than that it has none.
const TOO_MUCH: Want =
    Want::Fault("MemoryLimit", "used more memory than the 64 MiB that it may have");
/// Too many instructions.
const NO_FUEL: Want = Want::Fault("TimeLimit", "takes more than 10000000 instructions");
/// Too long, whatever the instructions: a clock ends it, that of the processor or that on the wall.
const TOO_SLOW: Want = Want::Fault("TimeLimit", "time than");

pub(crate) fn attacks() -> Vec<Attack> {
    let mut attacks = ways_out();
    attacks.extend(endless());
    attacks.extend(bombs());
    attacks.extend(recursion());
    attacks
}

fn ways_out() -> Vec<Attack> {
    let undefined = |part| Want::Fault("UndefinedError", part);
    let missing = |name| Want::Fault("TemplateNotFound", name);
    vec![
        jinja(
            "subclasses of object",
            "{{ ''.__class__.__mro__[1].__subclasses__() }}",
            undefined("__class__' is undefined"),
        ),
        jinja("a class by a filter", "{{ ()|attr('__class__') }}", Want::Text("")),
        jinja(
            "globals of a helper",
            "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
            undefined("'cycler.__init__' is undefined"),
        ),
        jinja(
            "globals of a loop",
            "{% for i in [1] %}{{ loop.__class__.__init__ }}{% endfor %}",
            undefined("'loop.__class__' is undefined"),
        ),
        jinja(
            "the template itself",
            "{{ self.__init__.__globals__ }}",
            undefined("'self' is undefined"),
        ),
        jinja("a web framework's objects", "{{ config }}{{ request }}{{ g }}", Want::Text("")),
        jinja("the engine's state", "{{ debug() }}", undefined("'debug' is undefined")),
        jinja(
            "Python's own functions",
            "{{ open('/etc/passwd').read() }}",
            undefined("'open' is undefined"),
        ),
        jinja(
            "a format that walks",
            "{{ '{0.__class__.__mro__}'.format(env) }}",
            undefined("an undefined value is used"),
        ),
        jinja("the environment", "{{ env['PATH'] }}{{ env.PATH }}", Want::Text("")),
        jinja("a file of the machine", "{% include '/etc/passwd' %}", missing("/etc/passwd")),
        jinja("a file above", "{% include '../../../../etc/passwd' %}", missing("../etc/passwd")),
        jinja(
            "a file with a NUL",
            "{% include 'attack.jinja\\0.txt' %}",
            missing("attack.jinja\\x00.txt"),
        ),
        jinja(
            "a file by a URL",
            "{% import 'file:///etc/passwd' as x %}",
            missing("file:///etc/passwd"),
        ),
        jinja("a module of Python", "{% import 'os' as os %}", missing("os")),
        jinja("a parent of the machine's", "{% extends '/etc/passwd' %}", missing("/etc/passwd")),
        jinja("chance", "{{ [1, 2]|random }}", Want::Fault("Forbidden", "random is not available")),
        jinja("words without sense", "{{ lipsum(10000000) }}", undefined("'lipsum' is undefined")),
        jinja("a name that redraws a terminal", "{% include '\u{1b}[2J' %}", missing("\\x1b[2J")),
    ]
}

fn endless() -> Vec<Attack> {
    let ranges = Want::Fault("TypeError", "range");
    vec![
        jinja(
            "a loop of loops",
            "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}",
            NO_FUEL,
        ),
        jinja(
            "a range of a thousand million",
            "{% for i in range(1000000000) %}{% endfor %}",
            ranges,
        ),
        jinja("a list of a thousand million", "{{ range(10000000000)|list|length }}", ranges),
        jinja(
            "a list that is copied for every item",
            "{% set x = range(9999)|list %}{% for a in range(9999) %}{% for b in range(99) %}\
             {% set y = (x + x + x + x + x + x + x + x + [b])|list %}{% endfor %}{% endfor %}",
            TOO_SLOW,
        ),
        jinja(
            "sorting the same again and again",
            "{% set x = range(9999)|list %}{% for i in range(9999) %}{% for j in range(99) %}\
             {% set y = x|sort(reverse=true)|list %}{% endfor %}{% endfor %}",
            TOO_SLOW,
        ),
        jinja(
            "a text that is replaced again and again",
            "{% set x = 'ab' * 400000 %}{% for i in range(9999) %}{% for j in range(99) %}\
             {% set y = x|replace('a', 'b')|upper %}{% endfor %}{% endfor %}",
            TOO_SLOW,
        ),
        jinja(
            "more text than is allowed",
            "{% for i in range(9999) %}{{ 'x' * 1000 }}{% endfor %}",
            Want::Fault("OutputLimit", "more than 1048576 bytes"),
        ),
    ]
}

fn bombs() -> Vec<Attack> {
    let refused = |part| Want::Fault("TypeError", part);
    let overflow = Want::Fault("OverflowError", "integers end at 128 bits");
    vec![
        jinja(
            "a gibibyte at once",
            "{{ 'x' * 1073741824 }}",
            refused("repeated string is too large"),
        ),
        jinja(
            "a text of more than there is",
            "{{ ('x' * 10000000000)|length }}",
            refused("repeated string is too large"),
        ),
        jinja(
            "a text that is doubled",
            "{% set n = namespace(t='0123456789abcdef') %}\
             {% for i in range(40) %}{% set n.t = n.t ~ n.t %}{% endfor %}{{ n.t|length }}",
            TOO_MUCH,
        ),
        jinja(
            "a list that is doubled",
            "{% set n = namespace(t=[1, 2, 3]) %}\
             {% for i in range(40) %}{% set n.t = n.t + n.t %}{% endfor %}{{ n.t|length }}",
            TOO_MUCH,
        ),
        jinja("a number of many digits", "{{ '%9999999999d' % 1 }}", TOO_MUCH),
        jinja("a number of a gibibyte", "{{ '%1073741824d'|format(1) }}", TOO_MUCH),
        jinja("a number of many places", "{{ '%.1073741824f' % 1.5 }}", TOO_MUCH),
        jinja("a text of a gibibyte, padded", "{{ '%1073741824s' % 'x' }}", TOO_MUCH),
        jinja(
            "a width in an argument",
            "{{ '%*d' % (1073741824, 1) }}",
            refused("invalid conversion type '*'"),
        ),
        jinja("a format of a gibibyte", "{{ '{:>1073741824}'.format(1) }}", TOO_MUCH),
        jinja(
            "centred in a gibibyte",
            "{{ 'x'|center(1073741824) }}",
            refused("bytes is too long"),
        ),
        jinja(
            "indented by a gibibyte",
            "{{ 'x\ny'|indent(1073741824) }}",
            refused("bytes is too long"),
        ),
        jinja(
            "replaced by much",
            "{{ ('x' * 100000)|replace('x', 'y' * 100000) }}",
            refused("bytes is too long"),
        ),
        jinja(
            "joined by much",
            "{{ range(9999)|join('y' * 1000000) }}",
            refused("bytes is too long"),
        ),
        jinja(
            "batches of a thousand million",
            "{{ [1]|batch(1000000000, 0)|list|length }}",
            refused("1000000000 is too many"),
        ),
        jinja(
            "slices, a thousand million",
            "{{ [1]|slice(1000000000)|list|length }}",
            refused("1000000000 is too many"),
        ),
        jinja(
            "wrapped after each character",
            "{{ ('x ' * 400000)|wordwrap(1, true, 'y' * 10000) }}",
            refused("bytes is too long"),
        ),
        jinja("a number that overflows", "{{ 9 ** 9 ** 9 }}", overflow),
        jinja(
            "a product that overflows",
            "{{ 170141183460469231731687303715884105727 * 2 }}",
            overflow,
        ),
        jinja(
            "a division by nothing",
            "{{ 1 // 0 }}{{ 1 % 0 }}",
            Want::Fault("ZeroDivisionError", "division by zero"),
        ),
    ]
}

/// A value that is nested far deeper than any stack.
const DEEP: &str = "{% set n = namespace(x=[], y=[]) %}{% for a in range(250) %}{% for b in range(1000) %}\
    {% set n.x = [n.x] %}{% set n.y = [n.y] %}{% endfor %}{% endfor %}";

fn recursion() -> Vec<Attack> {
    let recursion = Want::Fault("RecursionError", "maximum recursion depth exceeded");
    let nested = Want::Fault("TemplateSyntaxError", "template exceeds maximum recursion limits");
    let chain = Want::Fault("TemplateSyntaxError", "has more than 1000 parts in a chain");
    let deep = |name: &str, more: &str, want: Want| jinja(name, &format!("{DEEP}{more}"), want);
    vec![
        deep("a deep value that is printed", "{{ n.x }}", TOO_MUCH),
        deep("a deep value that is compared", "{{ n.x == n.y }}", TOO_MUCH),
        deep("a deep value that is written as JSON", "{{ n.x|tojson }}", TOO_MUCH),
        jinja(
            "a value that is less deep, written as JSON",
            "{% set n = namespace(x=[]) %}{% for a in range(1000) %}{% set n.x = [n.x] %}{% endfor %}{{ n.x|tojson }}",
            Want::Fault("TypeError", "more than 128 deep"),
        ),
        deep("a deep value that is dropped", "{% set n.x = 1 %}", TOO_MUCH),
        jinja("a template that includes itself", "{% include 'attack.jinja' %}", recursion),
        jinja(
            "a template that extends itself",
            "{% extends 'attack.jinja' %}",
            Want::Fault("TypeError", "cycle in template inheritance"),
        ),
        jinja("a template that imports itself", "{% import 'attack.jinja' as a %}", recursion),
        files(
            "templates that include each other",
            Jinja,
            &[("a.jinja", "{% include 'b.jinja' %}"), ("b.jinja", "{% include 'a.jinja' %}")],
            recursion,
        ),
        jinja(
            "a macro that calls itself",
            "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
            recursion,
        ),
        jinja("a block that is itself", "{% block b %}{{ self.b() }}{% endblock %}", recursion),
        jinja(
            "a loop that calls itself",
            "{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}",
            recursion,
        ),
        jinja(
            "brackets, 100,000 deep",
            &format!("{{{{ {}1{} }}}}", "(".repeat(100_000), ")".repeat(100_000)),
            nested,
        ),
        jinja("lists, 100,000 deep", &format!("{{{{ {} }}}}", "[".repeat(100_000)), nested),
        jinja("operators, 100,000 deep", &format!("{{{{ {}1 }}}}", "-".repeat(100_000)), chain),
        jinja("negations, 100,000 deep", &format!("{{{{ {}1 }}}}", "not ".repeat(100_000)), chain),
        jinja(
            "filters, 100,000 long",
            &format!("{{{{ 'x'{} }}}}", "|upper".repeat(100_000)),
            chain,
        ),
        jinja("attributes, 100,000 long", &format!("{{{{ x{} }}}}", ".a".repeat(100_000)), chain),
        jinja("conditions, 100,000 deep", &"{% if 1 %}".repeat(100_000), nested),
        jinja("additions, 100,000 long", &format!("{{{{ 1{} }}}}", "+1".repeat(100_000)), chain),
    ]
}
