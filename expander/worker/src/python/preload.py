"""What is loaded before the first template: allowed modules, what they load lazily, and nothing afterwards.

Runs once in the zygote, while files may still be read. It is no wall: whoever walks from module to module reaches
everything that is loaded, and none of it can do anything, since the system calls are refused.
"""

import _imp
import sys

import formwork_quick as quick

# PyYAML has a faster half in C, and hashlib one in OpenSSL. Templates find neither, and so run everywhere; what PyYAML's
# is used for stands in `quick`.
sys.modules["_hashlib"] = None
sys.modules["yaml._yaml"] = None

# What a template may import, by the first part of the name.
ALLOWED = frozenset(
    """__future__ abc base64 binascii bisect calendar collections contextlib copy dataclasses datetime decimal enum
    fractions functools hashlib heapq hmac html io ipaddress itertools json math numbers operator pprint random re six
    statistics string struct textwrap time traceback types typing unicodedata urllib uuid yaml zlib""".split()
)

# What those load when they are first used, and could not load any more.
LAZY = """_strptime atexit collections.abc linecache html.parser html.entities json.decoder json.encoder
    urllib.parse stringprep encodings.ascii encodings.latin_1 encodings.utf_8 encodings.utf_8_sig encodings.utf_16
    encodings.utf_16_le encodings.utf_16_be encodings.utf_32 encodings.utf_32_le encodings.utf_32_be encodings.cp1252
    encodings.idna encodings.punycode encodings.hex_codec encodings.base64_codec encodings.unicode_escape
    encodings.raw_unicode_escape encodings.rot_13""".split()


def load():
    """Imports everything, and uses once what fills caches of its own at the first use."""
    rename()
    for name in sorted(ALLOWED) + LAZY:
        __import__(name)
    modules = sys.modules
    # PyYAML once had a loader by default, and templates of that time name none. This one makes no objects.
    for load in (modules["yaml"].load, modules["yaml"].load_all):
        load.__defaults__ = (modules["yaml"].SafeLoader,)
    quick.hasten(modules["yaml"])
    for encoding in ("ascii", "latin-1", "utf-8-sig", "utf-16", "utf-32", "cp1252", "idna"):
        "warm".encode(encoding).decode(encoding)
    modules["datetime"].datetime.strptime("2016-01-04", "%Y-%m-%d").strftime("%Y")
    modules["json"].loads(modules["json"].dumps({"a": [1, 2.5, None, True]}, indent=1))
    modules["hashlib"].sha256(b"").hexdigest() + modules["hashlib"].md5(b"").hexdigest()
    modules["yaml"].safe_load(modules["yaml"].safe_dump({"a": [1, "b", {"c": None}]}))
    modules["yaml"].dump({"a": [1, 2.5]}, default_flow_style=False)
    modules["re"].compile(r"(?i)^a+[b-c]{2,}\b").match("aabc")
    modules["decimal"].Decimal("1.1") + 1
    modules["ipaddress"].ip_network("10.0.0.0/8")


def rename():
    """Has code say `<python:yaml.parser>` for its file: a template may print a traceback, or show it in an error."""
    loader = sys.modules["_frozen_importlib_external"].SourceFileLoader
    get_code = loader.get_code

    def renamed(self, name):
        code = get_code(self, name)
        _imp._fix_co_filename(code, "<python:%s>" % name)
        return code

    loader.get_code = renamed
    # CPython has loaded a few by now, `encodings` most of all.
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None):
            again(module)


def again(module):
    """The same for the functions of a module that is there already."""
    for value in list(vars(module).values()):
        for function in [value, *vars(value).values()] if isinstance(value, type) else [value]:
            code = getattr(function, "__code__", None)
            if isinstance(code, type(rename.__code__)) and not code.co_filename.startswith("<"):
                _imp._fix_co_filename(code, "<python:%s>" % module.__name__)


def files():
    """The files of all that is loaded, compiled ones with their sources."""
    found = set()
    for module in list(sys.modules.values()):
        spec = getattr(module, "__spec__", None)
        for file in (getattr(spec, "origin", None), getattr(spec, "cached", None)):
            if file and getattr(spec, "has_location", False):
                found.add(file)
    exists = sys.modules["os"].path.exists
    return sorted(file for file in found if exists(file))


def seal():
    """Ends importing, and takes the machine's paths off the modules: `repr(json)` would show them."""
    import gc
    import posix

    posix.environ.clear()
    if "os" in sys.modules:
        sys.modules["os"].environ._data.clear()
    sys.meta_path[:] = []
    sys.path[:] = []
    sys.path_hooks[:] = []
    sys.path_importer_cache.clear()
    sys.argv = [""]
    for name in ("prefix", "exec_prefix", "base_prefix", "base_exec_prefix", "_stdlib_dir", "executable"):
        setattr(sys, name, "")
    for module in list(sys.modules.values()):
        blank(module)
    for name in ("stdin", "stdout", "stderr"):
        setattr(sys, name, None)
        setattr(sys, "__%s__" % name, None)
    gc.collect()
    gc.freeze()


def blank(module):
    """One module's paths. Frozen and built-in modules have none, and a few forbid to be written to."""
    if module is None:
        return
    for name in ("__file__", "__cached__"):
        if getattr(module, name, None) is not None:
            setattr(module, name, "")
    if getattr(module, "__path__", None) is not None:
        module.__path__ = []
    spec = getattr(module, "__spec__", None)
    if spec is not None and getattr(spec, "has_location", False):
        spec.origin = spec.cached = None
        spec.submodule_search_locations = None
        spec.loader = module.__loader__ = None
