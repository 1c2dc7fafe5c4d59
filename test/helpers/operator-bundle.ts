import { stringifyJson } from '../../api/json.ts';

export interface OperatorBundle {
  /** Of package, deployment and ServiceAccount. */
  readonly name: string;
  readonly version?: number;
  /** The install modes that it supports. */
  readonly modes: readonly string[];
  /** Fields of the CSV's spec beside them. */
  readonly spec?: object;
}

/**
 * The files of a registry+v1 bundle: an operator that learns by a fieldRef what to watch, and may
 * see ConfigMaps of a namespace and nodes of the cluster.
 */
export function operatorFiles(operator: OperatorBundle): Readonly<Record<string, string>> {
  return {
    'metadata/annotations.yaml': `annotations:\n  operators.operatorframework.io.bundle.package.v1: ${operator.name}\n`,
    'manifests/csv.yaml': stringifyJson(aCsv(operator)),
  };
}

function aCsv({ name, version = 1, modes, spec = {} }: OperatorBundle): object {
  return {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'ClusterServiceVersion',
    metadata: { name: `${name}.v${version}.0.0` },
    spec: {
      displayName: name,
      installModes: modes.map((type) => ({ type, supported: true })),
      install: {
        strategy: 'deployment',
        spec: {
          permissions: [permissions(name, 'configmaps')],
          clusterPermissions: [permissions(name, 'nodes')],
          deployments: [{ name, spec: deploymentSpec(name) }],
        },
      },
      ...spec,
    },
  };
}

function permissions(serviceAccountName: string, resource: string): object {
  return {
    serviceAccountName,
    rules: [{ apiGroups: [''], resources: [resource], verbs: ['get', 'list', 'watch'] }],
  };
}

function deploymentSpec(name: string): object {
  const fieldRef = { fieldPath: "metadata.annotations['olm.targetNamespaces']" };
  const container = {
    name: 'operator',
    image: 'example.invalid/operator:1',
    env: [{ name: 'WATCH_NAMESPACE', valueFrom: { fieldRef } }],
  };
  return {
    replicas: 1,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { serviceAccountName: name, containers: [container] },
    },
  };
}
