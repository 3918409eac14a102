"""A service and the replicas behind it.

Properties:
  image       the container's image, the only one that has to be given
  port        where the container listens, 8080 by default
  servicePort where the service does, the container's port by default
  external    whether there is a load balancer before the service
  replicas    how many there are at the beginning
  most        how many there may be; more than replicas makes them grow with their work
  env         variables of the container, by name; a map is a key of a secret
  volumes     where to mount what: a size is a claim, a name is that of a ConfigMap
  labels      more labels for everything
  probe       the path of a probe, or none
  resources   requests and limits of the container
"""

import copy
import hashlib
import json

import yaml

DEFAULTS = {
    'port': 8080,
    'external': False,
    'replicas': 2,
    'env': {},
    'volumes': {},
    'labels': {},
    'resources': {
        'requests': {'cpu': '100m', 'memory': '64Mi'},
        'limits': {'memory': '256Mi'},
    },
}

APP = 'app.kubernetes.io/'


def GenerateConfig(context):
  """All resources of the service, as YAML."""
  settings = with_defaults(context.properties)
  name = context.env['name']
  labels = make_labels(name, context.env, settings)
  claims, volumes, mounts = make_volumes(name, labels, settings['volumes'])

  resources = [make_service(name, labels, settings)]
  resources.extend(claims)
  resources.append(make_deployment(name, labels, settings, volumes, mounts))
  if settings.get('most', 0) > settings['replicas']:
    resources.append(make_autoscaler(name, labels, settings))
  return yaml.dump({'resources': resources}, default_flow_style=False)


def with_defaults(properties):
  """What is given over what is not."""
  if not properties or 'image' not in properties:
    raise ValueError('an image has to be given')
  settings = copy.deepcopy(DEFAULTS)
  for key, value in properties.items():
    settings[key] = value
  settings.setdefault('servicePort', settings['port'])
  return settings


def make_labels(name, env, settings):
  """The labels that everything carries; the first two select the pods."""
  labels = {
      APP + 'name': name,
      APP + 'instance': '%s-%s' % (env['deployment'], name),
      APP + 'managed-by': env['project'],
      APP + 'version': settings['image'].rpartition(':')[2] or 'latest',
  }
  labels.update(settings['labels'])
  return labels


def select(labels):
  return {key: labels[key] for key in (APP + 'name', APP + 'instance')}


def resource(kind, version, name, labels, spec):
  """A resource of Deployment Manager around an object of Kubernetes."""
  return {
      'name': '%s-%s' % (name, kind.lower()),
      'type': kind,
      'properties': {
          'apiVersion': version,
          'kind': kind,
          'metadata': {'name': name, 'labels': dict(labels)},
          'spec': spec,
      },
  }


def make_service(name, labels, settings):
  ports = [{
      'name': 'http',
      'port': settings['servicePort'],
      'targetPort': settings['port'],
      'protocol': 'TCP',
  }]
  kind = 'LoadBalancer' if settings['external'] else 'ClusterIP'
  spec = {'type': kind, 'ports': ports, 'selector': select(labels)}
  return resource('Service', 'v1', name, labels, spec)


def make_volumes(name, labels, volumes):
  """Claims to be made, volumes of the pod, and where they are mounted."""
  claims, pod, mounts = [], [], []
  for path in sorted(volumes):
    what = volumes[path]
    volume = path.strip('/').replace('/', '-')
    if what.endswith('Gi'):
      claim = '%s-%s' % (name, volume)
      claims.append(resource('PersistentVolumeClaim', 'v1', claim, labels, {
          'accessModes': ['ReadWriteOnce'],
          'resources': {'requests': {'storage': what}},
      }))
      source = {'persistentVolumeClaim': {'claimName': claim}}
    else:
      source = {'configMap': {'name': what, 'defaultMode': 0o440}}
    pod.append(dict(source, name=volume))
    mounts.append({'name': volume, 'mountPath': path})
  return claims, pod, mounts


def make_variables(variables):
  made = []
  for name in sorted(variables):
    value = variables[name]
    if isinstance(value, dict):
      made.append({'name': name, 'valueFrom': {'secretKeyRef': value}})
    else:
      made.append({'name': name, 'value': str(value)})
  return made


def make_probe(settings, delay):
  return {
      'httpGet': {'path': settings['probe'], 'port': settings['port']},
      'initialDelaySeconds': delay,
      'periodSeconds': 10,
      'failureThreshold': 3,
  }


def make_deployment(name, labels, settings, volumes, mounts):
  container = {
      'name': name,
      'image': settings['image'],
      'ports': [{'name': 'http', 'containerPort': settings['port']}],
      'env': make_variables(settings['env']),
      'resources': settings['resources'],
  }
  if mounts:
    container['volumeMounts'] = mounts
  if settings.get('probe'):
    container['readinessProbe'] = make_probe(settings, 5)
    container['livenessProbe'] = make_probe(settings, 15)

  # Pods are made anew whenever their settings change.
  text = json.dumps(settings, sort_keys=True).encode()
  annotations = {'bench/settings': hashlib.sha256(text).hexdigest()[:16]}
  pod = {
      'metadata': {'labels': dict(labels), 'annotations': annotations},
      'spec': {'containers': [container], 'volumes': volumes},
  }
  return resource('Deployment', 'apps/v1', name, labels, {
      'replicas': settings['replicas'],
      'selector': {'matchLabels': select(labels)},
      'strategy': {'type': 'RollingUpdate'},
      'template': pod,
  })


def make_autoscaler(name, labels, settings):
  return resource('HorizontalPodAutoscaler', 'autoscaling/v1', name, labels, {
      'scaleTargetRef': {
          'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': name},
      'minReplicas': settings['replicas'],
      'maxReplicas': settings['most'],
      'targetCPUUtilizationPercentage': 70,
  })
