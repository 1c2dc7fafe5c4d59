// As kustomize knows them; any other kind, every custom one included, is taken to have a namespace.
const clusterScoped = new Set(
  `v1 ComponentStatus Namespace Node NodeProxyOptions PersistentVolume
  admissionregistration.k8s.io/v1,v1beta1 MutatingWebhookConfiguration ValidatingWebhookConfiguration
  apiextensions.k8s.io/v1,v1beta1 CustomResourceDefinition
  apiregistration.k8s.io/v1,v1beta1 APIService
  certificates.k8s.io/v1,v1beta1 CertificateSigningRequest
  flowcontrol.apiserver.k8s.io/v1beta1 FlowSchema PriorityLevelConfiguration
  networking.k8s.io/v1,v1beta1 IngressClass
  node.k8s.io/v1,v1beta1 RuntimeClass
  policy/v1beta1 PodSecurityPolicy
  rbac.authorization.k8s.io/v1,v1beta1 ClusterRole ClusterRoleBinding
  scheduling.k8s.io/v1,v1beta1 PriorityClass
  storage.k8s.io/v1,v1beta1 CSIDriver CSINode StorageClass VolumeAttachment`
    .split('\n')
    .flatMap((line) => {
      const [apiVersion = '', ...kinds] = line.trim().split(' ');
      const [first = '', ...more] = apiVersion.split(',');
      const others = more.map((version) => `${first.split('/')[0]}/${version}`);
      return [first, ...others].flatMap((each) => kinds.map((kind) => `${each} ${kind}`));
    }),
);

export function isClusterScoped(apiVersion: string, kind: string): boolean {
  return clusterScoped.has(`${apiVersion} ${kind}`);
}
