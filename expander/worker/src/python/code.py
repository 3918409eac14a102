"""The code of a template or helper: compiled, and written down for later calls.

What is written down is read by children of the same CPython only, and says which that is: workers that were started
later may have another. Nothing here judges code; a child that was given wrong code harms itself.
"""

import _frozen_importlib_external
import binascii
import marshal

import formwork_python2 as python2

MAGIC = _frozen_importlib_external.MAGIC_NUMBER


def compiled(source, name):
    """The code, and the names that it needs beside those of Python 3."""
    return python2.compiled(source, name), python2.names(source)


def pack(source, name):
    """The same as text."""
    return binascii.b2a_base64(MAGIC + marshal.dumps(compiled(source, name)), newline=False).decode()


def unpack(text):
    """What `compiled` gave; None for what this CPython did not write down."""
    try:
        written = binascii.a2b_base64(text or "")
        if written.startswith(MAGIC):
            return marshal.loads(memoryview(written)[len(MAGIC) :])
    except (ValueError, EOFError, TypeError):
        pass
    return None
