"""One expansion in a process of its own, which is what Deployment Manager started for every request.

Arguments: the configuration, then name and content of each file that is imported. Templates are rendered where they
stand, without walls; what comes out is printed as YAML. Schemas, references and outputs are left out, which makes this
less work than the original did.
"""

import sys

import jinja2
import yaml

ENV = {"deployment": "bench", "project": "bench"}


class Context:
    def __init__(self, env, properties, imports):
        self.env, self.properties, self.imports = env, properties, imports


def main(arguments):
    configuration = yaml.safe_load(arguments[0])
    imports = dict(zip(arguments[1::2], arguments[2::2]))
    resources, layout = expand(configuration["resources"], imports)
    result = {"config": {"resources": resources}, "layout": {"resources": layout}}
    print(yaml.dump(result, default_flow_style=False))


def expand(resources, imports):
    """The primitive resources below these, and the tree that they came from."""
    flat, tree = [], []
    for resource in resources:
        node = {"name": resource["name"], "type": resource["type"]}
        tree.append(node)
        if resource["type"] not in imports:
            flat.append(resource)
            continue
        below, node["resources"] = expand(render(resource, imports)["resources"], imports)
        if "properties" in resource:
            node["properties"] = resource["properties"]
        flat.extend(below)
    return flat, tree


def render(resource, imports):
    source = imports[resource["type"]]
    env = dict(ENV, name=resource["name"], type=resource["type"])
    if resource["type"].endswith(".py"):
        namespace = {}
        exec(compile(source, "<string>", "exec"), namespace)
        context = Context(env, resource.get("properties"), imports)
        return yaml.safe_load(namespace["GenerateConfig"](context))
    template = jinja2.Environment(loader=jinja2.DictLoader(imports)).from_string(source)
    return yaml.safe_load(template.render(dict(resource, env=env, imports=imports)))


if __name__ == "__main__":
    main(sys.argv[1:])
