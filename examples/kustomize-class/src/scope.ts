// As kustomize knows them; any other kind, every custom one included, is taken to have a namespace.
const clusterScoped = new Set(
  `v1 ComponentStatus Namespace Node PersistentVolume
  admissionregistration.k8s.io/v1 MutatingWebhookConfiguration ValidatingWebhookConfiguration
  apiextensions.k8s.io/v1 CustomResourceDefinition
  apiregistration.k8s.io/v1 APIService
  certificates.k8s.io/v1 CertificateSigningRequest
  networking.k8s.io/v1 IngressClass
  node.k8s.io/v1 RuntimeClass
  rbac.authorization.k8s.io/v1 ClusterRole ClusterRoleBinding
  scheduling.k8s.io/v1 PriorityClass
  storage.k8s.io/v1 CSIDriver CSINode StorageClass VolumeAttachment`
    .split('\n')
    .flatMap((line) => {
      const [apiVersion, ...kinds] = line.trim().split(' ');
      return kinds.map((kind) => `${apiVersion} ${kind}`);
    }),
);

export function isClusterScoped(apiVersion: string, kind: string): boolean {
  return clusterScoped.has(`${apiVersion} ${kind}`);
}
