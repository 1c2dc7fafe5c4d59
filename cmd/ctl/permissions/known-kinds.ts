interface KnownGroup {
  readonly group: string;
  readonly namespaced?: string;
  readonly clusterScoped?: string;
}

/** The kinds of Kubernetes itself, and ours. */
import type { Discovery, GroupVersionKind, Resource } from '../../../core/platform/kube/index.ts';
export const knownGroups: readonly KnownGroup[] = [
  {
    group: '',
    namespaced:
      'ConfigMap Endpoints LimitRange PersistentVolumeClaim Pod PodTemplate ReplicationController ResourceQuota Secret Service ServiceAccount',
    clusterScoped: 'Namespace PersistentVolume',
  },
  { group: 'apps', namespaced: 'ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet' },
  { group: 'batch', namespaced: 'CronJob Job' },
  { group: 'autoscaling', namespaced: 'HorizontalPodAutoscaler' },
  { group: 'policy', namespaced: 'PodDisruptionBudget' },
  {
    group: 'networking.k8s.io',
    namespaced: 'Ingress NetworkPolicy',
    clusterScoped: 'IngressClass IPAddress ServiceCIDR',
  },
  {
    group: 'rbac.authorization.k8s.io',
    namespaced: 'Role RoleBinding',
    clusterScoped: 'ClusterRole ClusterRoleBinding',
  },
  { group: 'apiextensions.k8s.io', clusterScoped: 'CustomResourceDefinition' },
  { group: 'apiregistration.k8s.io', clusterScoped: 'APIService' },
  {
    group: 'admissionregistration.k8s.io',
    clusterScoped:
      'MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration',
  },
  {
    group: 'storage.k8s.io',
    namespaced: 'CSIStorageCapacity',
    clusterScoped: 'CSIDriver CSINode StorageClass VolumeAttachment VolumeAttributesClass',
  },
  { group: 'scheduling.k8s.io', clusterScoped: 'PriorityClass' },
  { group: 'node.k8s.io', clusterScoped: 'RuntimeClass' },
  { group: 'coordination.k8s.io', namespaced: 'Lease' },
  { group: 'discovery.k8s.io', namespaced: 'EndpointSlice' },
  { group: 'certificates.k8s.io', clusterScoped: 'CertificateSigningRequest' },
  {
    group: 'flowcontrol.apiserver.k8s.io',
    clusterScoped: 'FlowSchema PriorityLevelConfiguration',
  },
  {
    group: 'resource.k8s.io',
    namespaced: 'ResourceClaim ResourceClaimTemplate',
    clusterScoped: 'DeviceClass ResourceSlice',
  },
  { group: 'core.rukpak.io', clusterScoped: 'Bundle BundleDeployment' },
];

/** What certificates may be asked for by. */
const certManager: KnownGroup = { group: 'cert-manager.io', namespaced: 'Certificate Issuer' };

interface KnownKind {
  readonly plural: string;
  readonly namespaced: boolean;
}

const known = new Map<string, KnownKind>(
  [...knownGroups, certManager].flatMap(({ group, namespaced = '', clusterScoped = '' }) => [
    ...kindsOf(group, namespaced, true),
    ...kindsOf(group, clusterScoped, false),
  ]),
);

function kindsOf(group: string, kinds: string, namespaced: boolean): [string, KnownKind][] {
  return kinds
    .split(' ')
    .filter((kind) => kind !== '')
    .map((kind) => [`${group}|${kind}`, { plural: pluralOf(kind), namespaced }]);
}

function pluralOf(kind: string): string {
  const name = kind.toLowerCase();
  if (name === 'endpoints') return name;
  if (name.endsWith('s')) return `${name}es`;
  return name.endsWith('y') ? `${name.slice(0, -1)}ies` : `${name}s`;
}

/** Knows the kinds of Kubernetes without asking anybody; about all others it asks `next`. */
export function knownKinds(next?: Discovery): Discovery {
  return {
    async resourceFor(gvk, signal) {
      return resourceOf(gvk) ?? (await next?.resourceFor(gvk, signal));
    },
    async resourceForGroupKind(group, kind, signal) {
      // The version plays no part in permissions.
      const found = resourceOf({ group, kind, version: '' });
      return found ?? (await next?.resourceForGroupKind(group, kind, signal));
    },
    invalidate: () => next?.invalidate(),
  };
}

function resourceOf(gvk: GroupVersionKind): Resource | undefined {
  const kind = known.get(`${gvk.group}|${gvk.kind}`);
  return kind && { ...gvk, ...kind };
}
