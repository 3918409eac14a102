"""From what a template returns to JSON. Only data goes through: what YAML could have said."""

import collections.abc
import datetime
import decimal
import json
import math

# Deeper than anything that is meant seriously, and within what the other side reads.
DEEPEST = 100
# Integers are 64 bits wide, with a sign or without.
SMALLEST, LARGEST = -(2**63), 2**64 - 1


class NotData(TypeError):
    """A value that is not data; the message says which."""


def encode(message):
    """JSON text as bytes. Text that is not Unicode, such as half of a surrogate pair, is an error."""
    try:
        return json.dumps(message, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    except UnicodeEncodeError as error:
        raise NotData("the result holds text that is not Unicode: %a" % error.object[error.start : error.end]) from None


def data(value, depth=0):
    """The same value in dictionaries, lists, strings, numbers, booleans and None.

    Tuples become lists, sets sorted lists, dates their text, and keys strings.
    """
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if kind is int or kind is float:
        return number(value)
    if depth > DEEPEST:
        raise NotData("the result is nested deeper than %d levels, or holds itself" % DEEPEST)
    if isinstance(value, dict):
        return {key(name): data(item, depth + 1) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [data(item, depth + 1) for item in value]
    if isinstance(value, (set, frozenset)):
        return ordered(data(item, depth + 1) for item in value)
    return other(value, depth)


def other(value, depth):
    """Subclasses and what is only like a container, all of it rarer than the rest."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bool):
        return bool(value)
    if isinstance(value, int):
        return number(int(value))
    if isinstance(value, float):
        return number(float(value))
    if isinstance(value, decimal.Decimal):
        return number(int(value) if value == value.to_integral_value() else float(value))
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, collections.abc.Mapping):
        return {key(name): data(item, depth + 1) for name, item in value.items()}
    if isinstance(value, (collections.abc.KeysView, collections.abc.ValuesView, collections.deque)):
        return [data(item, depth + 1) for item in value]
    raise NotData("the result holds a value of %s, which is not data" % type(value))


def number(value):
    if isinstance(value, int):
        if SMALLEST <= value <= LARGEST:
            return value
        raise NotData("the result holds an integer that does not fit into 64 bits")
    if math.isfinite(value):
        return value
    raise NotData("the result holds %r, which is no number in JSON" % value)


def key(name):
    """Keys are strings; what YAML would have read as something else is written as YAML writes it."""
    if isinstance(name, str):
        return str.__str__(name)
    if name is None:
        return "null"
    if isinstance(name, bool):
        return "true" if name else "false"
    if isinstance(name, (int, float)):
        return str(number(name))
    if isinstance(name, (datetime.date, datetime.time)):
        return name.isoformat()
    raise NotData("the result has a key of %s, which is not data" % type(name))


def ordered(items):
    """A set in an order that does not depend on addresses; values of different kinds go by their text."""
    items = list(items)
    try:
        return sorted(items)
    except TypeError:
        return sorted(items, key=lambda item: (type(item).__name__, repr(item)))
