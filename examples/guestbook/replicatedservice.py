"""Pods that are all alike, and the Service that spreads requests over them."""


def GenerateConfig(context):
    """The two resources that make up one replicated service."""
    name = context.env['name']
    properties = context.properties
    labels = dict(properties['labels'], app=name, deployment=context.env['deployment'])
    return {
        'resources': [
            {
                'name': name + '-pods',
                'type': 'Deployment',
                'properties': pods(name, labels, properties),
            },
            {
                'name': name + '-service',
                'type': 'Service',
                'properties': service(name, labels, properties),
            },
        ]
    }


def pods(name, labels, properties):
    container = {
        'name': name,
        'image': properties['image'],
        'ports': [{'containerPort': container_port(properties)}],
    }
    return {
        'apiVersion': 'apps/v1',
        'kind': 'Deployment',
        'metadata': {'name': name, 'labels': labels},
        'spec': {
            'replicas': properties['replicas'],
            'selector': {'matchLabels': {'app': name}},
            'template': {
                'metadata': {'labels': labels},
                'spec': {'containers': [container]},
            },
        },
    }


def service(name, labels, properties):
    spec = {
        'selector': {'app': name},
        'ports': [{'port': properties['port'], 'targetPort': container_port(properties)}],
    }
    if properties['external']:
        spec['type'] = 'LoadBalancer'
    return {
        'apiVersion': 'v1',
        'kind': 'Service',
        'metadata': {'name': name, 'labels': labels},
        'spec': spec,
    }


def container_port(properties):
    return properties.get('containerPort', properties['port'])
