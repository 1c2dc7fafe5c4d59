import type { LocatedObject } from '../manifest-objects.ts';
import type { FieldPlace } from '../source-lines.ts';
import { placeOf } from './bundle-content.ts';

/** Something of a bundle that is of an API no longer served. */
export interface RemovedUse {
  /** A kind, or a resource. */
  readonly what: string;
  readonly name: string;
  readonly place: FieldPlace;
}

/** What one version of Kubernetes has stopped to serve. */
export interface Removal {
  readonly version: readonly [number, number, number];
  readonly usesOf: (located: LocatedObject) => readonly RemovedUse[];
  /** `group/resource` of what rules for it may be about. */
  readonly resources: readonly string[];
}

export const removals: readonly Removal[] = [
  removalOf([1, 22, 0], {
    'apiextensions.k8s.io/v1beta1': 'CustomResourceDefinition',
    'scheduling.k8s.io/v1beta1': 'PriorityClass',
    'rbac.authorization.k8s.io/v1beta1': 'Role ClusterRole RoleBinding ClusterRoleBinding',
    'apiregistration.k8s.io/v1beta1': 'APIService',
    'authentication.k8s.io/v1beta1': 'TokenReview',
    'authorization.k8s.io/v1beta1':
      'LocalSubjectAccessReview SelfSubjectAccessReview SubjectAccessReview',
    'admissionregistration.k8s.io/v1beta1':
      'MutatingWebhookConfiguration ValidatingWebhookConfiguration',
    'coordination.k8s.io/v1beta1': 'Lease',
    'extensions/v1beta1': 'Ingress',
    'networking.k8s.io/v1beta1': 'Ingress IngressClass',
    'storage.k8s.io/v1beta1': 'CSIDriver CSINode StorageClass VolumeAttachment',
    'certificates.k8s.io/v1beta1': 'CertificateSigningRequest',
  }),
  removalOf(
    [1, 25, 0],
    {
      'batch/v1beta1': 'CronJob',
      'discovery.k8s.io/v1beta1': 'EndpointSlice',
      'events.k8s.io/v1beta1': 'Event',
      'autoscaling/v2beta1': 'HorizontalPodAutoscaler',
      'policy/v1beta1': 'PodDisruptionBudget PodSecurityPolicy',
      'node.k8s.io/v1beta1': 'RuntimeClass',
    },
    [
      'batch/cronjobs',
      'discovery.k8s.io/endpointslices',
      'events.k8s.io/events',
      'autoscaling/horizontalpodautoscalers',
      'policy/poddisruptionbudgets',
      'policy/podsecuritypolicies',
      'node.k8s.io/runtimeclasses',
    ],
  ),
  removalOf([1, 26, 0], { 'autoscaling/v2beta2': 'HorizontalPodAutoscaler' }),
];

function removalOf(
  version: Removal['version'],
  kinds: Readonly<Record<string, string>>,
  resources: readonly string[] = [],
): Removal {
  return {
    version,
    resources,
    usesOf: (located) => {
      const { apiVersion, kind, metadata } = located.object;
      const removed = Object.hasOwn(kinds, apiVersion) ? kinds[apiVersion] : undefined;
      if (removed?.split(' ').includes(kind) !== true) return [];
      const what = kind === 'CustomResourceDefinition' ? 'CRD' : kind;
      return [{ what, name: metadata.name ?? '', place: placeOf(located, 'apiVersion') }];
    },
  };
}
