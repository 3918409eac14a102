"""What a template can import and open: allowed modules, and the files that came with its configuration.

Helpers live apart from Python's own modules, so that a helper may have any name that no allowed module has. This is
for good messages and for templates that mean well; the walls are elsewhere.
"""

import builtins
import io
import sys
import types

import formwork_code as code
import formwork_preload as preload
import formwork_python2 as python2

# There is nobody to ask, nothing to debug and nowhere to go.
ABSENT = ("input", "breakpoint", "exit", "quit", "help", "copyright", "credits", "license")


# What of `sys` computes, or says which Python this is.
SYS = "byteorder exc_info float_info getrecursionlimit getsizeof hexversion intern maxsize maxunicode version_info".split()


def stand_in():
    """A `sys` for templates, which import it out of habit."""
    module = types.ModuleType("sys")
    for name in SYS:
        setattr(module, name, getattr(sys, name))
    module.maxint, module.platform, module.argv, module.path = sys.maxsize, "linux", [""], []
    module.stdout, module.stderr = sys.stdout, sys.stderr
    return module


class Helpers:
    """The imports of a call, seen as Python modules: `helpers/common.py` is `helpers.common`."""

    def __init__(self, imports, known):
        self.imports = imports
        # Name of an import -> its code, where that is known already.
        self.known = known
        # Dotted name -> (name of the import, source); a package without a body has None.
        self.sources = {}
        self.modules = {}
        for place in ("path", "name"):
            for name, file in imports.items():
                self.add(file.get("path", "") if place == "path" else name, name, file["content"])
        self.add_packages()
        self.builtins = self.private_builtins()
        self.sys = stand_in()

    def add(self, place, name, content):
        if not place.endswith(".py"):
            return
        parts = [part for part in place[: -len(".py")].split("/") if part not in ("", ".", "..")]
        if parts and parts[-1] == "__init__":
            parts.pop()
        if parts and all(part.isidentifier() for part in parts):
            self.sources[".".join(parts)] = (name, content)

    def add_packages(self):
        """Folders are packages; text that was given under a folder's name is its body."""
        for dotted in list(self.sources):
            parent = dotted.rpartition(".")[0]
            while parent and parent not in self.sources:
                name = parent.replace(".", "/")
                file = self.imports.get(name)
                self.sources[parent] = (name, file["content"]) if file else None
                parent = parent.rpartition(".")[0]

    def private_builtins(self):
        own = {name: value for name, value in vars(builtins).items() if name not in ABSENT}
        own["__import__"] = self.guarded
        own["open"] = self.open
        return own

    def guarded(self, name, globals=None, locals=None, fromlist=(), level=0):
        """`__import__` of templates and helpers."""
        if level:
            raise ImportError("attempted relative import with no known parent package")
        root = name.partition(".")[0]
        if root in self.sources:
            if root in preload.ALLOWED:
                raise ImportError("'%s' is a module of Python and an import of this configuration; rename the import" % root)
            module = self.load(name)
            for item in fromlist or ():
                if name + "." + item in self.sources:
                    self.load(name + "." + item)
            return module if fromlist else self.modules[root]
        if name == "sys":
            return self.sys
        if root in preload.ALLOWED:
            return builtins.__import__(name, globals, locals, fromlist, 0)
        allowed = ", ".join(sorted(preload.ALLOWED - {"__future__"} | {"sys"}))
        message = "No module named '%s'; a template can import what its configuration imports, and %s"
        raise ModuleNotFoundError(message % (name, allowed), name=name)

    def load(self, dotted):
        """The module, run once; its parents before it."""
        if dotted in self.modules:
            return self.modules[dotted]
        if dotted not in self.sources:
            raise ModuleNotFoundError("No module named '%s'" % dotted, name=dotted)
        parent, _, last = dotted.rpartition(".")
        if parent:
            self.load(parent)
        name, source = self.sources[dotted] or ("", "")
        module = self.modules[dotted] = types.ModuleType(dotted)
        if any(other.startswith(dotted + ".") for other in self.sources):
            module.__path__ = []
            module.__getattr__ = lambda item: self.child(dotted, item)
        try:
            self.execute(source, name, module.__dict__)
        except BaseException:
            del self.modules[dotted]
            raise
        if parent:
            setattr(self.modules[parent], last, module)
        return module

    def child(self, dotted, item):
        """Importing a package gives its modules, as they always did; but each only when it is asked for."""
        if dotted + "." + item in self.sources:
            return self.load(dotted + "." + item)
        raise AttributeError("module '%s' has no attribute '%s'" % (dotted, item))

    def execute(self, source, name, namespace):
        """Runs the source of an import in a namespace."""
        namespace["__builtins__"] = self.builtins
        compiled, names = code.unpack(self.known.get(name)) or code.compiled(source, name)
        namespace.update(python2.named(names))
        exec(compiled, namespace)

    def open(self, file, mode="r", *_, **__):
        """Imports can be read under their names and paths; nothing can be written."""
        content = None
        if isinstance(file, str) and set(mode) <= set("rtbU"):
            content = self.content(file)
        if content is None:
            raise PermissionError("I/O is not permitted in a template: open(%r)" % (file,))
        return io.BytesIO(content.encode()) if "b" in mode else io.StringIO(content)

    def content(self, file):
        if file in self.imports:
            return self.imports[file]["content"]
        return next((other["content"] for other in self.imports.values() if other.get("path") == file), None)
