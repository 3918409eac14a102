"""One call: from the bytes that were asked to the bytes that are answered.

Runs in a child that has its walls already. Whatever a template does to this code changes its own answer only.
"""

import json
import random
import sys

import formwork_code as code
import formwork_faults as faults
import formwork_imports as imports
import formwork_preload as preload
import formwork_python2 as python2
import formwork_results as results

ENTRIES = ("generate_config", "GenerateConfig")

converter = None


class Context:
    """What a template gets: `env`, `properties`, and the texts of `imports` by name."""

    def __init__(self, call):
        self.env = call["env"]
        self.properties = call["resource"].get("properties")
        self.imports = {name: file["content"] for name, file in call["imports"].items()}


class Discarded:
    """Where `print` goes. There is nobody to read it."""

    encoding, errors, closed = "utf-8", "strict", False

    def write(self, text):
        return len(text)

    def writelines(self, lines):
        for _ in lines:
            pass

    def flush(self):
        pass

    def isatty(self):
        return False


def prepare(convert):
    """In the zygote, once: loads all there is to load and ends importing. Returns the files that were loaded."""
    global converter
    preload.load()
    if convert:
        converter = python2.Converter()
    warm()
    files = preload.files()
    preload.seal()
    return files


def warm():
    """Runs everything that a call runs, so that children find it ready, and that a worker that cannot, never starts."""
    source = "import yaml\nimport h\ndef generate_config(c):\n  return yaml.dump({'resources': h.f(c.env)})\n"
    helper = "def f(e):\n  return [k for k, v in e.iteritems()]\n"
    call = {
        "template": "t.py",
        "resource": {"name": "r", "type": "t.py", "properties": {}},
        "env": {"name": "r"},
        "imports": {"t.py": {"content": source}, "h.py": {"content": helper}},
    }
    answered = json.loads(answer(json.dumps({"call": call, "seed": 0}).encode(), 1 << 20))
    if answered.get("text", {}).get("text") != "resources:\n- name\n":
        raise RuntimeError("a template does not render: %s" % answered)
    broken = {"t.py": {"content": "def generate_config(c):\n  return 1 // 0\n"}}
    answered = json.loads(answer(json.dumps({"call": dict(call, imports=broken), "seed": 0}).encode(), 1 << 20))
    if answered.get("fault", {}).get("kind") != "ZeroDivisionError":
        raise RuntimeError("a fault is not reported: %s" % answered)


def answer(body, limit, release=lambda: None):
    """Renders one call. `release` gives back memory that was kept for telling that there is none left."""
    files = {}
    try:
        ask = json.loads(body)
        files = ask["call"]["imports"]
        encoded = results.encode(MODES[ask.get("mode", "render")](ask))
        if len(encoded) <= limit:
            return encoded
        found = faults.static("OutputLimit", "the template gives more than %d bytes" % limit)
    except MemoryError as error:
        release()
        found = faults.fault(error, files)
    except BaseException as error:
        found = faults.fault(error, files)
    return results.encode({"fault": found})


def convert(ask):
    call = ask["call"]
    if converter is None:
        return {"fault": faults.static("Unsupported", "this worker was not started to convert templates")}
    return {"text": {"text": converter.convert(call["imports"][call["template"]]["content"], call["template"])}}


def compile_only(ask):
    name = ask["call"]["template"]
    return {"text": {"text": code.pack(ask["call"]["imports"][name]["content"], name)}}


def render(ask):
    call = ask["call"]
    random.seed(ask["seed"])
    sys.stdout = sys.stderr = Discarded()
    sys.path_importer_cache.clear()
    properties = call["resource"].get("properties")
    returned = generate(ask, Context(call))
    answered = {"properties": results.data(properties)}
    if isinstance(returned, str):
        return {"text": dict(answered, text=results.data(returned))}
    if returned is None or isinstance(returned, dict):
        return {"data": dict(answered, value=results.data(returned))}
    raise_wrong(returned)


def generate(ask, context):
    """Runs the template and calls its entry."""
    call = ask["call"]
    helpers = imports.Helpers(call["imports"], ask.get("code", {}))
    name = call["template"]
    namespace = {"__name__": name.rpartition("/")[2].partition(".")[0]}
    helpers.execute(call["imports"][name]["content"], name, namespace)
    for entry in ENTRIES:
        if entry in namespace:
            return namespace[entry](context)
    raise LookupError("%s defines neither %s nor %s" % (name, *ENTRIES))


MODES = {"render": render, "convert": convert, "compile": compile_only}


def raise_wrong(returned):
    message = "Python expansion must return dict, str or unicode type, but was %s"
    raise TypeError(message % type(returned))
