import { fieldAt, listOf, stringAt } from '../../../api/json-fields.ts';
import {
  type BundleContent,
  type Check,
  type CheckOptions,
  type LocatedObject,
  placeOf,
} from '../bundle-content.ts';
import { error, type Finding, warning } from '../problem.ts';
import type { FieldPlace } from '../source-lines.ts';
import { isAtLeast, tolerantVersion } from './versions.ts';

/** Finds objects of APIs that newer versions of Kubernetes no longer serve. */
export const deprecatedApis: Check = {
  name: 'alpha-deprecated-apis',
  summary: 'APIs that Kubernetes 1.22, 1.25 and 1.26 have removed',
  optional: true,
  find: removedApiFindings,
};

export function removedApiFindings(
  bundle: BundleContent,
  { kubeVersion }: CheckOptions,
): readonly Finding[] {
  const given = kubeVersion === undefined ? undefined : tolerantVersion(kubeVersion);
  const least = stringAt(bundle.csv?.object['spec'], 'minKubeVersion') ?? '';
  if (kubeVersion !== undefined && given === undefined) {
    const message = `invalid value informed via the k8s key option : ${kubeVersion}`;
    return [error({ message, fix: 'give --kube-version as 1.25 or the like' })];
  }
  const known = [given, tolerantVersion(least)].filter((version) => version !== undefined);
  return [
    ...unreadable(bundle, least),
    ...removals.flatMap((removal) => {
      const isRemoved = known.some((version) => isAtLeast(version, removal.version));
      const uses = bundle.objects.flatMap((located) => removal.usesOf(located));
      return [
        ...found(removal, uses, isRemoved ? error : warning),
        ...found(removal, removedInRules(removal, bundle.csv), warning),
      ];
    }),
  ];
}

function unreadable({ csv }: BundleContent, version: string): readonly Finding[] {
  if (csv === undefined || version === '' || tolerantVersion(version) !== undefined) return [];
  const message = `unable to use csv.Spec.MinKubeVersion to verify the CRD/Webhook apis because it has an invalid value: ${version}`;
  const place = placeOf(csv, 'spec', 'minKubeVersion');
  return [error({ place, message, fix: 'write it as three numbers, for example 1.25.0' })];
}

function found(
  { version }: Removal,
  uses: readonly RemovedUse[],
  finding: typeof error,
): readonly Finding[] {
  const [first] = uses;
  if (first === undefined) return [];
  const name = version.slice(0, 2);
  const kinds = [...Map.groupBy(uses, ({ what }) => what)].map(
    ([what, each]) => `${what}: ([${each.map(({ name: one }) => `"${one}"`).join(' ')}])`,
  );
  const message =
    `this bundle is using APIs which were deprecated and removed in v${name.join('.')}. ` +
    `More info: https://kubernetes.io/docs/reference/using-api/deprecation-guide/#v${name.join('-')}. ` +
    `Migrate the API(s) for ${kinds.join(',')}`;
  return [
    finding({ place: first.place, message, fix: 'write them for the version that is served now' }),
  ];
}

const strategy = ['spec', 'install', 'spec'] as const;

/**
 * Rules of the operator for resources with a removed version. Rules have no version, so this is
 * only a hint; it skips resources that the CSV lists for its CRDs.
 */
function removedInRules(
  { resources }: Removal,
  csv: LocatedObject | undefined,
): readonly RemovedUse[] {
  if (csv === undefined || resources.length === 0) return [];
  const listed = listedResources(csv);
  return (['clusterPermissions', 'permissions'] as const).flatMap((field) =>
    rulesOf(csv, field).flatMap(({ rule, at, index }) =>
      namesIn(rule)
        .filter(
          ({ group, resource }) =>
            resources.includes(`${group}/${resource}`) && !listed.has(resource),
        )
        .map(({ resource }) => ({
          what: resource,
          name: `ClusterServiceVersion.Spec.InstallStrategy.StrategySpec.${goName(field)}[${at}].Rules[${index}]`,
          place: placeOf(csv, ...strategy, field, at, 'rules', index),
        })),
    ),
  );
}

interface PlacedRule {
  readonly rule: unknown;
  readonly at: number;
  readonly index: number;
}

function rulesOf({ object }: LocatedObject, field: string): readonly PlacedRule[] {
  return listOf(fieldAt(object, ...strategy, field)).flatMap((entry, at) =>
    listOf(fieldAt(entry, 'rules')).map((rule, index) => ({ rule, at, index })),
  );
}

function namesIn(rule: unknown): readonly { readonly group: string; readonly resource: string }[] {
  const resources = listOf(fieldAt(rule, 'resources')).filter((each) => typeof each === 'string');
  const groups = listOf(fieldAt(rule, 'apiGroups')).filter((each) => typeof each === 'string');
  return groups.flatMap((group) => resources.map((resource) => ({ group, resource })));
}

function listedResources({ object }: LocatedObject): ReadonlySet<string> {
  const definitions = fieldAt(object['spec'], 'customresourcedefinitions');
  const entries = ['owned', 'required'].flatMap((field) => listOf(fieldAt(definitions, field)));
  const kinds = entries
    .flatMap((entry) => listOf(fieldAt(entry, 'resources')))
    .map((resource) => stringAt(resource, 'kind') ?? '');
  return new Set(kinds.map((kind) => `${kind.toLowerCase()}s`));
}

function goName(field: string): string {
  return `${field.charAt(0).toUpperCase()}${field.slice(1)}`;
}

/** A use of a removed API in a bundle. */
interface RemovedUse {
  /** Kind or resource. */
  readonly what: string;
  readonly name: string;
  readonly place: FieldPlace;
}

/** APIs that one version of Kubernetes has removed. */
interface Removal {
  readonly version: readonly [number, number, number];
  readonly usesOf: (located: LocatedObject) => readonly RemovedUse[];
  /** `group/resource` of the APIs, as in RBAC rules. */
  readonly resources: readonly string[];
}

const removals: readonly Removal[] = [
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
