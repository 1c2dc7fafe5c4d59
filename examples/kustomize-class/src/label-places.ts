/** Type, path, and whether the field is made where it is missing. */
export type LabelPlace = readonly [type: string, path: string, make: boolean];

const inTemplates: readonly (readonly [string, string])[] = [
  ['*/v1/ReplicationController', 'spec/template/metadata'],
  ['*/*/Deployment', 'spec/template/metadata'],
  ['*/*/ReplicaSet', 'spec/template/metadata'],
  ['*/*/DaemonSet', 'spec/template/metadata'],
  ['apps/*/StatefulSet', 'spec/template/metadata'],
  ['batch/*/Job', 'spec/template/metadata'],
  ['batch/*/CronJob', 'spec/jobTemplate/metadata'],
  ['batch/*/CronJob', 'spec/jobTemplate/spec/template/metadata'],
];

export const metadataPlaces: readonly LabelPlace[] = [['*/*/*', 'metadata/labels', true]];

export const templatePlaces: readonly LabelPlace[] = [
  ...inTemplates.map(([type, path]): LabelPlace => [type, `${path}/labels`, true]),
  ['apps/*/StatefulSet', 'spec/volumeClaimTemplates[]/metadata/labels', true],
];

export const annotationPlaces: readonly LabelPlace[] = [
  ['*/*/*', 'metadata/annotations', true],
  ...inTemplates.map(([type, path]): LabelPlace => [type, `${path}/annotations`, true]),
];

const affinities = ['podAffinity', 'podAntiAffinity'].flatMap((affinity) => [
  `affinity/${affinity}/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm`,
  `affinity/${affinity}/requiredDuringSchedulingIgnoredDuringExecution`,
]);

export const selectorPlaces: readonly LabelPlace[] = [
  ['*/v1/Service', 'spec/selector', true],
  ['*/*/ReplicationController', 'spec/selector', true],
  ['*/*/Deployment', 'spec/selector/matchLabels', true],
  ['*/*/ReplicaSet', 'spec/selector/matchLabels', true],
  ['*/*/DaemonSet', 'spec/selector/matchLabels', true],
  ['apps/*/StatefulSet', 'spec/selector/matchLabels', true],
  ['batch/*/Job', 'spec/selector/matchLabels', false],
  ['batch/*/CronJob', 'spec/jobTemplate/spec/selector/matchLabels', false],
  ['policy/*/PodDisruptionBudget', 'spec/selector/matchLabels', false],
  ['networking.k8s.io/*/NetworkPolicy', 'spec/podSelector/matchLabels', false],
  ['networking.k8s.io/*/NetworkPolicy', 'spec/ingress/from/podSelector/matchLabels', false],
  ['networking.k8s.io/*/NetworkPolicy', 'spec/egress/to/podSelector/matchLabels', false],
  ...['apps/*/Deployment', 'apps/*/StatefulSet'].flatMap((type) =>
    [...affinities, 'topologySpreadConstraints'].map(
      (part): LabelPlace => [type, `spec/template/spec/${part}/labelSelector/matchLabels`, false],
    ),
  ),
];
