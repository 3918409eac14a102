"""An application that has to know where its database is."""


def GenerateConfig(context):
    name = context.env['name']
    properties = context.properties
    return {
        'resources': [{
            'name': name,
            'type': 'ConfigMap',
            'properties': {
                'apiVersion': 'v1',
                'kind': 'ConfigMap',
                'metadata': {'name': name},
                # These are references still; they are replaced when all templates have given what they give.
                'data': {
                    'DATABASE_HOST': properties['host'],
                    'DATABASE': 'host=%s port=%s' % (properties['host'], properties['port']),
                },
            },
        }],
    }
