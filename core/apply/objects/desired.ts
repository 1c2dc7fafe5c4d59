import { isMap, mapOf } from '../../../api/json-fields.ts';
import type { KubernetesObject, OwnerReference } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { annotation, label } from '../../../api/v1alpha1/labels.ts';
import { installNamespaceOf } from '../../../api/v1alpha1/rules/install-namespace.ts';
import { keepAnnotation } from '../../../api/v1alpha1/rules/kept-object.ts';
import type { ObjectKey, Resource } from '../../platform/kube/index.ts';
import { type IgnoredTree, ignoredIn, withoutFields } from '../fields/field-tree.ts';
import { digestOf } from '../fields/projection.ts';
import { objectID } from './object-id.ts';
import { applySetKey, deploymentApplySetID, trackingID } from './owner-marks.ts';

/** The desired state of one object. */
export interface DesiredObject {
  readonly id: string;
  readonly resource: Resource;
  readonly key: ObjectKey;
  readonly object: KubernetesObject;
  /** Its fields that core ignores once the object exists. */
  readonly ignored?: IgnoredTree | undefined;
  /** Equal digests mean an unchanged desired state. */
  readonly digest: string;
}

export interface DesiredContext {
  readonly owner: BundleDeployment;
  readonly systemNamespace: string;
}

/** Fields that the API server sets, or that have no meaning in an applied object. */
const serverFields: ReadonlySet<string> = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'managedFields',
  'generation',
  'selfLink',
  'ownerReferences',
]);

/** RukPak's labels on a kept object: they tell people which deployment made it. */
export const primaryResourceKeys = [
  'operator-sdk/primary-resource',
  'operator-sdk/primary-resource-type',
] as const;

/** Objects with core's or Helm's keep annotation outlive their owner and are never pruned. */
export function isKept(object: KubernetesObject): boolean {
  return keepAnnotation(object.metadata.annotations) !== undefined;
}

/**
 * Whether a deployment is rolled out without this object while the cluster does not serve its kind.
 */
export function isOptional(object: KubernetesObject): boolean {
  return mapOf(object.metadata.annotations)[annotation.optional] === 'true';
}

/**
 * A bundle's object with the marks of its owner. Drops only fields that belong to the API server. A
 * Secret's stringData becomes data, as the server stores it, so that core can compare and revert
 * it.
 */
export function desiredObject(
  written: KubernetesObject,
  resource: Resource,
  context: DesiredContext,
): DesiredObject {
  const { owner, systemNamespace } = context;
  const content = withoutHookRun(written);
  const name = content.metadata.name ?? '';
  const key: ObjectKey = resource.namespaced
    ? { namespace: content.metadata.namespace || installNamespaceOf(owner, systemNamespace), name }
    : { name };
  const { namespace: _, ...metadata } = mapOf(content.metadata);
  const { status: __, ...body } = content;
  const object: KubernetesObject = {
    ...withEncodedData(body),
    metadata: {
      ...withoutServerFields(metadata),
      ...(key.namespace === undefined ? {} : { namespace: key.namespace }),
      ...ownerMarks(content, { owner, resource, key }),
    },
  };
  const ignored = ignoredIn(owner, { resource, key }, object);
  return {
    id: objectID(resource, key),
    resource,
    key,
    object,
    ignored,
    digest: digestOf(
      ignored === undefined ? object : [ignored.key, withoutFields(object, ignored.tree)],
    ),
  };
}

export function controllerReference(owner: BundleDeployment): OwnerReference {
  return {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name: owner.metadata.name ?? '',
    uid: owner.metadata.uid ?? '',
    controller: true,
    blockOwnerDeletion: true,
  };
}

/**
 * No ownerReference: through one the garbage collector would delete objects that core must keep,
 * and objects restored from a backup, whose owner then has another UID (docs/adr/0033).
 */
function ownerMarks(
  content: KubernetesObject,
  { owner, resource, key }: Pick<DesiredContext, 'owner'> & Pick<DesiredObject, 'resource' | 'key'>,
): object {
  const { name = '', uid = '' } = owner.metadata;
  const [primary, primaryType] = primaryResourceKeys;
  return {
    labels: {
      ...mapOf(content.metadata.labels),
      [label.ownerKind]: 'BundleDeployment',
      [label.ownerName]: name,
      [applySetKey.partOf]: deploymentApplySetID(name),
    },
    annotations: {
      ...mapOf(content.metadata.annotations),
      [annotation.trackingID]: trackingID(uid, resource, key),
      ...(isKept(content)
        ? { [primary]: `/${name}`, [primaryType]: 'BundleDeployment.core.rukpak.io' }
        : {}),
    },
  };
}

/** The annotation marks objects that hooks created; a copied object would carry it along. */
function withoutHookRun(content: KubernetesObject): KubernetesObject {
  const annotations = mapOf(content.metadata.annotations);
  if (!Object.hasOwn(annotations, annotation.hookRun)) return content;
  const { [annotation.hookRun]: _, ...rest } = annotations as Record<string, string>;
  return { ...content, metadata: { ...content.metadata, annotations: rest } };
}

function withoutServerFields(metadata: object): object {
  return Object.fromEntries(Object.entries(metadata).filter(([field]) => !serverFields.has(field)));
}

function withEncodedData(object: KubernetesObject): KubernetesObject {
  const { stringData, ...rest } = object;
  if (object.apiVersion !== 'v1' || object.kind !== 'Secret') return object;
  if (!isMap(stringData) || !Object.values(stringData).every(isString)) return object;
  const encoded = Object.entries(stringData)
    .filter((entry): entry is [string, string] => isString(entry[1]))
    .map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
  return { ...rest, data: { ...mapOf(object['data']), ...Object.fromEntries(encoded) } };
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

/** One object that needs a request. */
export interface PlannedObject {
  readonly desired: DesiredObject;
  /** From the inventory; undefined when the object is missing, or has no owner's marks. */
  readonly live: KubernetesObject | undefined;
  /** True when core applied the same object before and somebody changed it since. */
  readonly repair: boolean;
  /**
   * True when this process has not applied it, so that it cannot tell whether somebody changed it.
   */
  readonly unrecorded?: boolean;
}

/** A planned object that core may apply. */
export interface CheckedObject extends PlannedObject {
  /** Remove its controller references first, because it was adopted. */
  readonly dropControllers: boolean;
  /** Make RukPak's fields core's first. */
  readonly takeOver: boolean;
  /**
   * Missing in the cluster as far as core knows: if it exists after all, core must not change it.
   */
  readonly createOnly: boolean;
  /** The deployment that had it until now and transferred it. */
  readonly transferredBy?: BundleDeployment | undefined;
  /** The Helm release that it belonged to until now, other than RukPak's own. */
  readonly adoptedFrom?: { readonly name: string; readonly namespace: string } | undefined;
}
