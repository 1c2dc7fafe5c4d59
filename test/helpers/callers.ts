const namespace = 'in-cluster-callers';
const labels = { e2e: namespace };
const rbac = 'rbac.authorization.k8s.io';

/** The namespace and the label of all that is made here. */
export const callers = { namespace, selector: `e2e=${namespace}` };

/** Clients of the content server: `reader` and `uploader` of bundles, `monitor` of metrics, `stranger`. */
export function callerObjects(): readonly object[] {
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } },
    ...['reader', 'uploader', 'monitor', 'stranger'].map(account),
    binding('reader', 'bundle-reader'),
    binding('uploader', 'bundle-uploader'),
    binding('monitor', 'rukpak-metrics-reader'),
  ];
}

function account(name: string): object {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } };
}

function binding(name: string, role: string): object {
  return {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: `${namespace}-${name}`, labels },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  };
}
