import { z } from 'zod';
import { goQuote } from '../../../api/go-quote.ts';
import type { KubernetesObject, OwnerReference } from '../../../api/meta.ts';
import { clusterExtensionResource } from '../../../api/olm/v1/index.ts';
import { operatorResource } from '../../../api/operators/v1alpha1/index.ts';
import { annotation, label } from '../../../api/v1alpha1/labels.ts';
import { apiVersionOf, type Resource } from '../../../core/controller.ts';

/** Of everything that the controller writes of Operators that it makes. */
export const dependencyManager = 'operator-dependencies';

const claimsSchema = z
  .array(z.object({ operator: z.string().max(253), requires: z.string().max(1_024) }))
  .max(10_000);

/** An Operator or ClusterExtension that requires the package. */
export interface Claim {
  /** Its claimant name. */
  readonly operator: string;
  /** `package "d" in version range ">=1.0.0"`. */
  readonly requires: string;
}

/** An Operator to have because others require its package. */
export interface WantedOperator {
  /** Also its name. */
  readonly packageName: string;
  readonly version: string;
  readonly claims: readonly Claim[];
  /** The objects of users that need it, directly or through others. */
  readonly owners: readonly KubernetesObject[];
}

/** How claims name an object: `db` for an Operator, `ClusterExtension/app`. */
export function claimantName({ kind, metadata: { name = '' } }: KubernetesObject): string {
  return kind === operatorResource.kind ? name : `${kind}/${name}`;
}

/** `Operator "db"`. */
export function claimantTitle(claimant: string): string {
  const [name = '', kind = operatorResource.kind] = claimant.split('/').toReversed();
  return `${kind} ${goQuote(name)}`;
}

const claimsByObject = new WeakMap<KubernetesObject, readonly Claim[]>();

/** Why it was made; empty for what somebody else has written. */
export function claimsOf(object: KubernetesObject): readonly Claim[] {
  const known = claimsByObject.get(object);
  if (known !== undefined) return known;
  const claims = readClaims(object);
  claimsByObject.set(object, claims);
  return claims;
}

function readClaims({ metadata }: KubernetesObject): readonly Claim[] {
  const text = metadata.annotations?.[annotation.requiredBy];
  if (text === undefined) return [];
  try {
    return claimsSchema.safeParse(JSON.parse(text)).data ?? [];
  } catch {
    return [];
  }
}

/** Whether an Operator has any mark of the controller, or owners that it wrote. */
export function isMarked(object: KubernetesObject): boolean {
  const { labels = {}, annotations = {} } = object.metadata;
  return (
    Object.hasOwn(labels, label.dependency) ||
    Object.hasOwn(annotations, annotation.requiredBy) ||
    (ownersOf(object).length > 0 && hasOwnersOfOurs(object))
  );
}

/**
 * Whether the garbage collector may delete an Operator although nobody has asked for that: its users'
 * custom resources outlive it.
 */
export function isOwnedByDependents(object: KubernetesObject): boolean {
  return ownersOf(object).length > 0 && isMarked(object);
}

/**
 * Whether the controller made an Operator, and no user has taken it over: removed a mark, the owners
 * or the version, or written its spec.
 */
export function isMade(object: KubernetesObject): boolean {
  return (
    object.metadata.labels?.[label.dependency] === 'true' &&
    claimsOf(object).length > 0 &&
    ownersOf(object).length > 0 &&
    hasVersion(object) &&
    !hasSpecOfOthers(object)
  );
}

/** The references to Operators and ClusterExtensions that keep it from being deleted. */
export function ownersOf({ metadata }: KubernetesObject): readonly OwnerReference[] {
  return (metadata.ownerReferences ?? []).filter(isOwnerByDependency);
}

function isOwnerByDependency({ apiVersion, kind, controller }: OwnerReference): boolean {
  const isOf = (resource: Resource) =>
    apiVersion === apiVersionOf(resource) && kind === resource.kind;
  return !controller && [operatorResource, clusterExtensionResource].some(isOf);
}

/** The managed fields do not tell who has removed it. */
function hasVersion(object: KubernetesObject): boolean {
  return (object['spec'] as { version?: string } | undefined)?.version !== undefined;
}

interface ManagedField {
  readonly manager?: string;
  readonly subresource?: string;
  readonly fieldsV1?: { readonly 'f:metadata'?: object; readonly 'f:spec'?: object };
}

function managedFieldsOf({ metadata }: KubernetesObject): readonly ManagedField[] {
  return (metadata as { managedFields?: readonly ManagedField[] }).managedFields ?? [];
}

function hasOwnersOfOurs(object: KubernetesObject): boolean {
  return managedFieldsOf(object).some(
    ({ manager, fieldsV1: { 'f:metadata': fields = {} } = {} }) =>
      manager === dependencyManager && Object.hasOwn(fields, 'f:ownerReferences'),
  );
}

function hasSpecOfOthers(object: KubernetesObject): boolean {
  return managedFieldsOf(object).some(
    ({ manager, subresource = '', fieldsV1 = {} }) =>
      manager !== dependencyManager && subresource === '' && Object.hasOwn(fieldsV1, 'f:spec'),
  );
}

/** The object to apply. `live` is the one that is there. */
export function madeOperator(
  { packageName, version, claims, owners }: WantedOperator,
  live: KubernetesObject | undefined,
): KubernetesObject {
  const uid = live?.metadata.uid;
  return {
    apiVersion: apiVersionOf(operatorResource),
    kind: operatorResource.kind,
    metadata: {
      name: packageName,
      // Refused if it was deleted and created by somebody else meanwhile.
      ...(uid === undefined ? {} : { uid }),
      labels: { [label.dependency]: 'true' },
      annotations: { [annotation.requiredBy]: claimsText(claims) },
      ownerReferences: owners.map(({ apiVersion, kind, metadata }) => ({
        apiVersion,
        kind,
        name: metadata.name ?? '',
        uid: metadata.uid ?? '',
        blockOwnerDeletion: false,
      })),
    },
    spec: { packageName, version },
  };
}

/** Maximum characters of the annotation; the API server accepts 256 KiB of all of them. */
const longestText = 128 * 1024;

/** Of very many Operators the names alone. */
function claimsText(claims: readonly Claim[]): string {
  const text = JSON.stringify(claims);
  if (text.length <= longestText) return text;
  return JSON.stringify(claims.map(({ operator }) => ({ operator, requires: '' })));
}

/** Whether a live object is as it was wanted. */
export function isAsWanted(live: KubernetesObject, wanted: WantedOperator): boolean {
  const { packageName, version } = (live['spec'] ?? {}) as Partial<WantedOperator>;
  const owners = new Set(ownersOf(live).map(({ uid }) => uid));
  const wantedOwners = new Set(wanted.owners.map(({ metadata }) => metadata.uid ?? ''));
  return (
    packageName === wanted.packageName &&
    version === wanted.version &&
    live.metadata.annotations?.[annotation.requiredBy] === claimsText(wanted.claims) &&
    owners.symmetricDifference(wantedOwners).size === 0
  );
}

/**
 * A JSON patch that makes an Operator a user's alone: without marks, and without the owners with which
 * the garbage collector would delete it. Conflicts with every change since the object was read.
 */
export function releasePatch({ metadata }: KubernetesObject): readonly object[] {
  const { resourceVersion, labels = {}, annotations = {}, ownerReferences } = metadata;
  const kept = ownerReferences?.filter((each) => !isOwnerByDependency(each));
  return [
    { op: 'add', path: '/metadata/resourceVersion', value: resourceVersion },
    { op: 'add', path: '/metadata/labels', value: without(labels, label.dependency) },
    {
      op: 'add',
      path: '/metadata/annotations',
      value: without(annotations, annotation.requiredBy),
    },
    ...(kept === undefined ? [] : [{ op: 'add', path: '/metadata/ownerReferences', value: kept }]),
  ];
}

function without(map: Readonly<Record<string, string>>, key: string): object {
  return Object.fromEntries(Object.entries(map).filter(([each]) => each !== key));
}
