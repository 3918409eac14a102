"""PyYAML's own text from its half in C, several times sooner.

Nearly all Python templates end in `yaml.dump`, and in PyYAML's Python that takes longer than all else they do. The two
halves differ in how they fold text in double quotes, in how they write tags and empty keys, and in the end of a document
that is a mere scalar. So the one in C writes maps and lists that are asked for plainly; where the outcome could be one of
those, it is thrown away and written again. Where libyaml is missing, nothing changes.
"""

import sys

# Options under which both halves write the same.
PLAIN = frozenset(["default_flow_style", "sort_keys"])
# What stands in every text that they may write differently.
DOUBTFUL = ('"', "!", "'':")


def hasten(yaml):
    """Replaces the functions that dump one document."""
    emitter = load(yaml)
    if not emitter:
        return
    halves = {dumper: in_c(emitter, yaml, dumper) for dumper in (yaml.Dumper, yaml.SafeDumper)}
    dump_all = yaml.dump_all

    def dump(data, stream=None, Dumper=yaml.Dumper, **options):
        half = halves.get(Dumper)
        if half and stream is None and type(data) in (dict, list) and options.keys() <= PLAIN:
            text = dump_all([data], None, Dumper=half, **options)
            if not any(sign in text for sign in DOUBTFUL):
                return text
        return dump_all([data], stream, Dumper=Dumper, **options)

    def safe_dump(data, stream=None, **options):
        return dump(data, stream, yaml.SafeDumper, **options)

    yaml.dump, yaml.safe_dump = dump, safe_dump


def load(yaml):
    """The emitter in C, if there is one. What a template finds is as without it."""
    del sys.modules["yaml._yaml"]
    try:
        from yaml import _yaml
    except ImportError:
        return None
    finally:
        sys.modules["yaml._yaml"] = None
    del yaml._yaml
    # Under a name that nobody may import; `files` lists what stands here.
    sys.modules["formwork_libyaml"] = _yaml
    return _yaml.CEmitter


def in_c(emitter, yaml, dumper):
    """A dumper that represents values as the other does, with what templates teach it, and emits them in C."""

    class Half(emitter, dumper):
        def __init__(self, stream, default_style=None, default_flow_style=False, sort_keys=True, **options):
            emitter.__init__(self, stream, **options)
            yaml.representer.BaseRepresenter.__init__(
                self, default_style=default_style, default_flow_style=default_flow_style, sort_keys=sort_keys
            )
            yaml.resolver.BaseResolver.__init__(self)

    return Half
