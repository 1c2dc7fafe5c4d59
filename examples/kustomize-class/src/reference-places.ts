/** What is referred to, by whom, and where: kustomize's default `nameReference`. */
export type ReferencePlace = readonly [target: string, referrer: string, path: string];

const podSpecs: Readonly<Record<string, string>> = {
  '*/v1/Pod': 'spec',
  '*/*/PodTemplate': 'template/spec',
  '*/*/Deployment': 'spec/template/spec',
  '*/*/ReplicaSet': 'spec/template/spec',
  '*/*/DaemonSet': 'spec/template/spec',
  '*/*/StatefulSet': 'spec/template/spec',
  '*/*/ReplicationController': 'spec/template/spec',
  '*/*/Job': 'spec/template/spec',
  '*/*/CronJob': 'spec/jobTemplate/spec/template/spec',
};

function inPods(
  target: string,
  paths: readonly string[],
  without: readonly string[],
): readonly ReferencePlace[] {
  return Object.entries(podSpecs)
    .filter(([referrer]) => !without.some((kind) => referrer.endsWith(`/${kind}`)))
    .flatMap(([referrer, spec]) =>
      paths.map((path): ReferencePlace => [target, referrer, `${spec}/${path}`]),
    );
}

const inContainers = ['containers', 'initContainers'];
const keyPaths = (ref: string) => inContainers.map((list) => `${list}/env/valueFrom/${ref}/name`);
const allPaths = (ref: string) => inContainers.map((list) => `${list}/envFrom/${ref}/name`);

const configMap = '*/v1/ConfigMap';
const secret = '*/v1/Secret';
const service = '*/v1/Service';
const rbac = 'rbac.authorization.k8s.io/*';
const noTemplates = ['PodTemplate', 'ReplicaSet'];

export const referencePlaces: readonly ReferencePlace[] = [
  ...['Deployment', 'ReplicationController', 'ReplicaSet', 'StatefulSet'].map(
    (kind): ReferencePlace => [
      `*/*/${kind}`,
      '*/*/HorizontalPodAutoscaler',
      'spec/scaleTargetRef/name',
    ],
  ),
  ...inPods(
    configMap,
    [
      'volumes/configMap/name',
      'volumes/projected/sources/configMap/name',
      ...keyPaths('configMapKeyRef'),
      ...allPaths('configMapRef'),
    ],
    ['ReplicationController'],
  ),
  [configMap, '*/*/Node', 'spec/configSource/configMap'],
  [configMap, '*/*/Role', 'rules/resourceNames'],
  [configMap, '*/*/ClusterRole', 'rules/resourceNames'],
  [
    configMap,
    '*/*/Ingress',
    'metadata/annotations/nginx.ingress.kubernetes.io\\/fastcgi-params-configmap',
  ],
  ...inPods(
    secret,
    [
      'volumes/secret/secretName',
      'volumes/projected/sources/secret/name',
      'imagePullSecrets/name',
      ...keyPaths('secretKeyRef'),
      ...allPaths('secretRef'),
    ],
    ['ReplicationController'],
  ),
  [secret, '*/*/Ingress', 'spec/tls/secretName'],
  [secret, '*/*/Ingress', 'metadata/annotations/ingress.kubernetes.io\\/auth-secret'],
  [secret, '*/*/Ingress', 'metadata/annotations/nginx.ingress.kubernetes.io\\/auth-secret'],
  [secret, '*/*/Ingress', 'metadata/annotations/nginx.ingress.kubernetes.io\\/auth-tls-secret'],
  [secret, '*/*/ServiceAccount', 'imagePullSecrets/name'],
  ...['secretName', 'adminSecretName', 'userSecretName', 'secretRef'].map(
    (name): ReferencePlace => [secret, '*/*/StorageClass', `parameters/${name}`],
  ),
  [secret, '*/*/Role', 'rules/resourceNames'],
  [secret, '*/*/ClusterRole', 'rules/resourceNames'],
  [
    secret,
    'serving.knative.dev/v1/Service',
    'spec/template/spec/containers/env/valueFrom/secretKeyRef/name',
  ],
  [secret, '*/*/PersistentVolume', 'spec/azureFile/secretName'],
  [service, 'apps/*/StatefulSet', 'spec/serviceName'],
  [service, '*/*/Ingress', 'spec/rules/http/paths/backend/serviceName'],
  [service, '*/*/Ingress', 'spec/backend/serviceName'],
  [service, '*/*/Ingress', 'spec/rules/http/paths/backend/service/name'],
  [service, '*/*/Ingress', 'spec/defaultBackend/service/name'],
  [service, 'apiregistration.k8s.io/*/APIService', 'spec/service/name'],
  [
    service,
    'admissionregistration.k8s.io/*/ValidatingWebhookConfiguration',
    'webhooks/clientConfig/service',
  ],
  [
    service,
    'admissionregistration.k8s.io/*/MutatingWebhookConfiguration',
    'webhooks/clientConfig/service',
  ],
  [`${rbac}/Role`, `${rbac}/RoleBinding`, 'roleRef/name'],
  [`${rbac}/ClusterRole`, `${rbac}/RoleBinding`, 'roleRef/name'],
  [`${rbac}/ClusterRole`, `${rbac}/ClusterRoleBinding`, 'roleRef/name'],
  ['*/v1/ServiceAccount', `${rbac}/RoleBinding`, 'subjects'],
  ['*/v1/ServiceAccount', `${rbac}/ClusterRoleBinding`, 'subjects'],
  ...inPods('*/v1/ServiceAccount', ['serviceAccountName'], noTemplates),
  ...inPods('*/v1/PersistentVolumeClaim', ['volumes/persistentVolumeClaim/claimName'], noTemplates),
  ['*/v1/PersistentVolume', '*/*/PersistentVolumeClaim', 'spec/volumeName'],
  ['*/v1/PersistentVolume', '*/*/ClusterRole', 'rules/resourceNames'],
  ['storage.k8s.io/v1/StorageClass', '*/*/PersistentVolume', 'spec/storageClassName'],
  ['storage.k8s.io/v1/StorageClass', '*/*/PersistentVolumeClaim', 'spec/storageClassName'],
  [
    'storage.k8s.io/v1/StorageClass',
    '*/*/StatefulSet',
    'spec/volumeClaimTemplates/spec/storageClassName',
  ],
  ...inPods('scheduling.k8s.io/v1/PriorityClass', ['priorityClassName'], noTemplates),
  [
    'admissionregistration.k8s.io/*/ValidatingAdmissionPolicy',
    'admissionregistration.k8s.io/*/ValidatingAdmissionPolicyBinding',
    'spec/policyName',
  ],
];
