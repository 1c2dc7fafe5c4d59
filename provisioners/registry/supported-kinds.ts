/** Kinds beside the CSV and CRDs, told by kind alone whatever the group (spec section 9.8). */
export const supportedKinds: ReadonlyMap<string, 'Namespaced' | 'Cluster'> = new Map([
  ['Secret', 'Namespaced'],
  ['ClusterRole', 'Cluster'],
  ['ClusterRoleBinding', 'Cluster'],
  ['ConfigMap', 'Namespaced'],
  ['ServiceAccount', 'Namespaced'],
  ['Service', 'Namespaced'],
  ['Role', 'Namespaced'],
  ['RoleBinding', 'Namespaced'],
  ['PrometheusRule', 'Namespaced'],
  ['ServiceMonitor', 'Namespaced'],
  ['PodDisruptionBudget', 'Namespaced'],
  ['PriorityClass', 'Cluster'],
  // The API has it namespaced; RukPak leaves its namespace as written, and so do we.
  ['VerticalPodAutoscaler', 'Cluster'],
  ['ConsoleYAMLSample', 'Cluster'],
  ['ConsoleQuickStart', 'Cluster'],
  ['ConsoleCLIDownload', 'Cluster'],
  ['ConsoleLink', 'Cluster'],
]);
