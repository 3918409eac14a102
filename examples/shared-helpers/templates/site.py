"""A site: pages in a ConfigMap, and what serves them."""

from text import words


def generate_config(context):
    name = words.slug(context.env['name'])
    properties = context.properties
    greeting = context.imports['welcome'].strip()
    pages = {
        'index.html': words.page(properties['domain'], [greeting, properties['motto']]),
    }
    return {
        'resources': [
            {
                'name': name + '-pages',
                'type': 'ConfigMap',
                'properties': {
                    'apiVersion': 'v1',
                    'kind': 'ConfigMap',
                    'metadata': {'name': name},
                    'data': pages,
                },
            },
            {
                'name': name,
                'type': 'replicatedservice.py',
                'properties': {'image': properties['image'], 'port': 80},
            },
            {
                'name': name + '-route',
                'type': 'route.jinja',
                'properties': {'host': properties['domain'], 'service': name},
            },
        ]
    }
