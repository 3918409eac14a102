"""Habits of Python 2 that real templates have: a few are understood, the others get a hint.

The names and methods that Deployment Manager's own templates use work as they did. Integer division, ordering across
types and text that is bytes do not; nothing can tell whether a template relies on them.
"""

import ast
import functools
import re

METHODS = frozenset(["iteritems", "itervalues", "iterkeys", "has_key"])
NAMES = {
    "xrange": range,
    "unicode": str,
    "basestring": str,
    "long": int,
    "unichr": chr,
    "reduce": functools.reduce,
}
USED_METHOD = re.compile(r"\.\s*(?:iteritems|itervalues|iterkeys|has_key)\s*\(")
USED_NAME = re.compile(r"\b(?:xrange|unicode|basestring|long|unichr|reduce)\b")

HINT = "this looks like Python 2, and templates run in Python 3"
CONVERT = HINT + "; `kubectl formwork expand --to-python3` translates it"

# What Python 3 says of Python 2's syntax, by the message or by the line that it points to.
MESSAGES = re.compile(
    r"Missing parentheses in call to|multiple exception types must be parenthesized"
    r"|leading zeros in decimal integer|invalid decimal literal"
)
LINES = re.compile(
    r"`[^`]+`|<>|^\s*print\s+[^\s=(]|^\s*print\s*>>|^\s*exec\s+[^\s=(]|^\s*except\s+[\w.]+\s*,\s*\w+\s*:"
    r"|^\s*raise\s+[\w.]+\s*,|\bur['\"]|\b\d+[lL]\b|\blambda\s*\("
)
# Modules that Python 3 calls otherwise, and methods whose results are no lists any more.
MODULES = frozenset(
    """__builtin__ BaseHTTPServer ConfigParser Cookie HTMLParser Queue StringIO cPickle cStringIO commands cookielib
    httplib md5 sets sha thread urllib2 urlparse""".split()
)
VIEWS = re.compile(r"'(?:dict_keys|dict_values|dict_items|map|filter|zip|range)' object")
LISTS = "in Python 3 keys(), values(), items(), map(), filter() and zip() give no lists; wrap them in list()"


class Methods(ast.NodeTransformer):
    """`d.iteritems()` to a call that asks the object first: it may have the method itself."""

    def visit_Call(self, node):
        self.generic_visit(node)
        method = node.func
        if not isinstance(method, ast.Attribute) or method.attr not in METHODS or node.keywords:
            return node
        if len(node.args) != (1 if method.attr == "has_key" else 0):
            return node
        name = ast.copy_location(ast.Name("__python2_" + method.attr, ast.Load()), method)
        return ast.copy_location(ast.Call(name, [method.value, *node.args], []), node)


def compiled(source, name):
    """The code of a template or helper; line numbers are those of the source."""
    if USED_METHOD.search(source) is None:
        return compile(source, name, "exec", dont_inherit=True)
    tree = Methods().visit(ast.parse(source, name))
    return compile(ast.fix_missing_locations(tree), name, "exec", dont_inherit=True)


def names(source):
    """Names of the globals that the source needs beside those of Python 3."""
    found = set(USED_NAME.findall(source))
    if USED_METHOD.search(source) is not None:
        found.update(SUBSTITUTES)
    return sorted(found)


def named(names):
    """Those globals."""
    return {name: NAMES[name] if name in NAMES else SUBSTITUTES[name] for name in names}


def iterator(method, modern):
    def substitute(value):
        if hasattr(value, method):
            return getattr(value, method)()
        return iter(getattr(value, modern)())

    return substitute


def has_key(value, key):
    return value.has_key(key) if hasattr(value, "has_key") else key in value


SUBSTITUTES = {
    "__python2_iteritems": iterator("iteritems", "items"),
    "__python2_itervalues": iterator("itervalues", "values"),
    "__python2_iterkeys": iterator("iterkeys", "keys"),
    "__python2_has_key": has_key,
}


def hint(error, message, line):
    """What to do about an error that Python 2 would not have raised; None for all others."""
    if isinstance(error, SyntaxError):
        if MESSAGES.search(message) or LINES.search(line):
            return CONVERT
    elif isinstance(error, ModuleNotFoundError):
        if str(error.name).partition(".")[0] in MODULES:
            return HINT
    elif isinstance(error, AttributeError):
        if VIEWS.search(message):
            return LISTS
        if error.name == "message" and isinstance(error.obj, BaseException):
            return HINT + ", where str() of an exception is its message"
    elif isinstance(error, TypeError):
        if VIEWS.search(message):
            return LISTS
        if "not supported between instances of" in message:
            return HINT + ", where values of different types have no order"
        if "a bytes-like object is required" in message:
            return HINT + ", where text and bytes are different things"
    return None


class Converter:
    """lib2to3 with all that it loads. Only a worker that was started for it has one."""

    def __init__(self):
        from lib2to3 import refactor

        self.fixes = refactor.get_fixers_from_package("lib2to3.fixes")
        self.tool = refactor.RefactoringTool(self.fixes)
        self.convert("print 'warm', u'up'\n", "warm")

    def convert(self, source, name):
        whole = source if source.endswith("\n") else source + "\n"
        text = str(self.tool.refactor_string(whole, name))
        return text if source.endswith("\n") else text[:-1]
