/** Kinds of one API group, separated by spaces. */
export interface KnownGroup {
  readonly group: string;
  readonly namespaced?: string;
  readonly clusterScoped?: string;
}

/** The kinds of Kubernetes itself, and ours. */
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
