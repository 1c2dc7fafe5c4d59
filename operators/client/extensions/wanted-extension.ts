import type { JsonObject } from '../../../api/json.ts';
import { fieldAt, isMap, listOf } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { catalogNameLabel } from '../../../api/olm/v1/index.ts';
import { apiVersionOf, TerminalError } from '../../../core/controller.ts';
import { type ExtensionKindName, extensionResources } from './cluster-extensions.ts';

/** What a user asks of a package. */
export interface PackageWish {
  /** A version or a range. */
  readonly version?: string | undefined;
  /** An Operator takes one at most. */
  readonly channels?: readonly string[] | undefined;
  /** Upgrades, and downgrades, without a path of upgrades. */
  readonly force?: boolean | undefined;
}

export interface ExtensionWish extends PackageWish {
  readonly kind: ExtensionKindName;
  readonly name: string;
  readonly packageName: string;
  /** Of a ClusterExtension alone. */
  readonly namespace?: string | undefined;
  readonly serviceAccount?: string | undefined;
  /** Name of the only ClusterCatalog to install from. */
  readonly catalog?: string | undefined;
}

/** A new Operator or ClusterExtension, with the fields of the wish alone. */
export function newExtension(wish: ExtensionWish): KubernetesObject {
  const { kind, name, packageName } = wish;
  const object = {
    apiVersion: apiVersionOf(extensionResources[kind]),
    kind,
    metadata: { name },
    spec: kind === 'Operator' ? { packageName } : extensionSpec(wish),
  };
  return withWish(object, wish);
}

function extensionSpec({ packageName, namespace, serviceAccount, catalog }: ExtensionWish) {
  const matchLabels = { [catalogNameLabel]: catalog };
  return {
    ...(namespace === undefined ? {} : { namespace }),
    ...(serviceAccount === undefined ? {} : { serviceAccount: { name: serviceAccount } }),
    source: {
      sourceType: 'Catalog',
      catalog: { packageName, ...(catalog === undefined ? {} : { selector: { matchLabels } }) },
    },
  };
}

/** The object after the wish is fulfilled. */
export function withWish(object: KubernetesObject, wish: PackageWish): KubernetesObject {
  return merged(object, wishPatch(object.kind as ExtensionKindName, wish)) as KubernetesObject;
}

/**
 * The change of the spec as a JSON merge patch: fields that the wish does not name stay as they are.
 * @throws TerminalError for several channels of an Operator
 */
export function wishPatch(kind: ExtensionKindName, wish: PackageWish): JsonObject {
  const { version, channels = [], force = false } = wish;
  const pin = version === undefined ? {} : { version };
  if (kind === 'ClusterExtension') {
    const policy = force ? { upgradeConstraintPolicy: 'SelfCertified' } : {};
    const catalog = { ...pin, ...(channels.length === 0 ? {} : { channels }), ...policy };
    return { spec: { source: { catalog } } };
  }
  const [channel, ...others] = channels;
  if (others.length > 0) {
    throw new TerminalError('an Operator takes one channel: pass --channel once');
  }
  const policy = force ? { upgradeConstraintPolicy: 'Ignore' } : {};
  return { spec: { ...pin, ...(channel === undefined ? {} : { channel }), ...policy } };
}

function merged(value: unknown, patch: JsonObject): unknown {
  const result: Record<string, unknown> = { ...(isMap(value) ? value : {}) };
  for (const [key, change] of Object.entries(patch)) {
    result[key] = isMap(change) ? merged(result[key], change) : change;
  }
  return result;
}

/** The fields, as paths, in which an existing object differs from what a wish names. */
export function differingFields(
  live: KubernetesObject,
  wanted: KubernetesObject,
): readonly string[] {
  return differences(live['spec'], wanted['spec'], 'spec');
}

function differences(live: unknown, wanted: unknown, path: string): readonly string[] {
  if (!isMap(wanted)) return JSON.stringify(live) === JSON.stringify(wanted) ? [] : [path];
  return Object.entries(wanted).flatMap(([key, value]) =>
    differences(fieldAt(live, key), value, `${path}.${key}`),
  );
}

/**
 * Field managers that have applied a field of the spec that a patch changes: they may set it back.
 */
export function otherManagers(object: KubernetesObject, patch: JsonObject): readonly string[] {
  const { managedFields } = object.metadata as { managedFields?: unknown };
  const names = listOf(managedFields).flatMap((entry) => {
    const [manager, operation, fields] = ['manager', 'operation', 'fieldsV1'].map((key) =>
      fieldAt(entry, key),
    );
    const applies = operation === 'Apply' || manager === 'kubectl-client-side-apply';
    const isOther = typeof manager === 'string' && manager !== fieldManager;
    return applies && isOther && overlaps(fields, patch) ? [manager] : [];
  });
  return [...new Set(names)];
}

/** The field manager of rukpakctl. */
export const fieldManager = 'rukpakctl';

function overlaps(fields: unknown, patch: JsonObject): boolean {
  return Object.entries(patch).some(([key, change]) => {
    const owned = fieldAt(fields, `f:${key}`);
    if (owned === undefined) return false;
    return isMap(change) ? overlaps(owned, change) : true;
  });
}
