import shares


def GenerateConfig(context):
    size = shares.each(context.properties['memory'], context.properties['workers'])
    return {'resources': [{'name': 'worker', 'type': 'Pod', 'properties': {'size': size}}]}
