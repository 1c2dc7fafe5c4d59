import { isDeepStrictEqual } from 'node:util';
import { type JsonObject, stringifyJson } from '../../../api/json.ts';
import { isMap } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { FieldChange, ForecastChange } from '../../contracts/applier.ts';
import { fieldPath } from '../fields/field-tree.ts';
import { type InventoryEntry, identity } from '../inventory/entry.ts';
import { objectID } from '../objects/object-id.ts';
import type { ForeseenObject } from './forecaster.ts';

/** Maximum number of fields shown per object; nobody reads more. */
const shownFields = 100;
const shownLength = 200;

/** A change in its displayed form, and the identity that an approval covers. */
interface ForeseenChange {
  readonly change: ForecastChange;
  /** Equal for equal changes; includes the values that the displayed change masks. */
  readonly identity: readonly unknown[];
}

/** The displayed change of an object; undefined when it does not change. */
export function foreseenChange(foreseen: ForeseenObject): ForeseenChange | undefined {
  const { resource, key, desired, before, after } = foreseen;
  const object = namedObject(foreseen);
  const id = objectID(resource, key);
  const uid = before?.metadata.uid;
  if (desired === undefined || after === undefined) {
    return { change: { action: 'Delete', ...object }, identity: ['Delete', id, uid] };
  }
  if (before === undefined) {
    return { change: { action: 'Create', ...object }, identity: ['Create', id, desired.digest] };
  }
  const differences = fieldDifferences(comparable(before), comparable(after));
  if (differences.length === 0) return undefined;
  // Admission may change a desired object differently each time; the live values and the desired
  // object must stay the same.
  const found = differences.map(({ path, before }) => [path, before]);
  return {
    change: { action: 'Change', ...object, ...shown(differences, isSecret(after)) },
    identity: ['Change', id, uid, desired.digest, found],
  };
}

/** The displayed change of an object that an apply would orphan for this reason. */
export function foreseenOrphan(entry: InventoryEntry, because: string): ForeseenChange {
  return {
    change: { action: 'Orphan', ...namedObject(entry), because },
    identity: ['Orphan', identity(entry)],
  };
}

function namedObject({
  resource: { group, kind },
  key: { namespace, name },
}: Pick<ForeseenObject, 'resource' | 'key'>): Omit<ForecastChange, 'action'> {
  return { group, kind, ...(namespace === undefined ? {} : { namespace }), name };
}

function comparable(object: KubernetesObject): unknown {
  const content = wantedContent(object);
  return isSecret(content) ? { ...content, metadata: withoutCopy(content.metadata) } : content;
}

function shown(
  differences: readonly FieldDifference[],
  secret: boolean,
): Pick<ForecastChange, 'fields' | 'moreFields'> {
  const fields = differences
    .slice(0, shownFields)
    .map((difference) => fieldChange(difference, secret && isValue(difference.path)));
  const moreFields = differences.length - fields.length;
  return { fields, ...(moreFields === 0 ? {} : { moreFields }) };
}

function isValue(path: string): boolean {
  const [field = ''] = path.split(/[.[]/);
  return secretFields.includes(field);
}

function fieldChange({ path, before, after }: FieldDifference, masked: boolean): FieldChange {
  return {
    path: shortened(path),
    ...(before === undefined ? {} : { before: masked ? mask : textOf(before) }),
    ...(after === undefined ? {} : { after: masked ? mask : textOf(after) }),
  };
}

function textOf(value: unknown): string {
  return shortened(stringifyJson(value));
}

function shortened(text: string): string {
  return text.length <= shownLength ? text : `${text.slice(0, shownLength)}…`;
}

/**
 * A field that differs between two states of an object; a side is undefined when it lacks the
 * field.
 */
interface FieldDifference {
  /** Such as `spec.template.spec.containers[name="app"].image`; empty for the whole object. */
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Fields that identify the items of a list, in the order in which they are tried. */
const itemKeys = ['name', 'key', 'type', 'mountPath', 'containerPort', 'port', 'uid'] as const;

/** The smallest fields that differ; a map or list that only one side has is one field. */
export function fieldDifferences(before: unknown, after: unknown, path = ''): FieldDifference[] {
  if (isMap(before) && isMap(after)) return mapDifferences(before, after, path);
  if (Array.isArray(before) && Array.isArray(after)) return listDifferences(before, after, path);
  return isDeepStrictEqual(before, after) ? [] : [{ path, before, after }];
}

function mapDifferences(before: JsonObject, after: JsonObject, path: string): FieldDifference[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) =>
    fieldDifferences(own(before, key), own(after, key), fieldPath(path, key)),
  );
}

function own(map: JsonObject, key: string): unknown {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

function listDifferences(
  before: readonly unknown[],
  after: readonly unknown[],
  path: string,
): FieldDifference[] {
  const key = itemKeys.find((each) => isKeyOf(each, before) && isKeyOf(each, after));
  if (key === undefined) return byIndex(before, after, path);
  const [left, right] = [itemsBy(key, before), itemsBy(key, after)];
  const names = new Set([...left.keys(), ...right.keys()]);
  const found = [...names].flatMap((name) =>
    fieldDifferences(left.get(name), right.get(name), `${path}[${key}=${JSON.stringify(name)}]`),
  );
  // A different order of the same items is a difference of the whole list.
  if (found.length > 0 || isDeepStrictEqual([...left.keys()], [...right.keys()])) return found;
  return [{ path, before, after }];
}

function byIndex(
  before: readonly unknown[],
  after: readonly unknown[],
  path: string,
): FieldDifference[] {
  const length = Math.max(before.length, after.length);
  return Array.from({ length }, (_, index) =>
    fieldDifferences(before[index], after[index], `${path}[${index}]`),
  ).flat();
}

/** True when each item is a map with a unique value in this field. */
function isKeyOf(key: string, items: readonly unknown[]): boolean {
  const values = new Set(items.map((item) => (isMap(item) ? own(item, key) : undefined)));
  return values.size === items.length && values.values().every(isScalar);
}

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number';
}

function itemsBy(key: string, items: readonly unknown[]): ReadonlyMap<unknown, unknown> {
  return new Map(items.map((item) => [isMap(item) ? item[key] : undefined, item]));
}

/** Replaces secret values. */
export const mask = '***';

/** Fields of a Secret that hold its values. */
export const secretFields: readonly string[] = ['data', 'stringData'];

/** Contains a copy of the whole object, also of a Secret. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

export function isSecret({ apiVersion, kind }: KubernetesObject): boolean {
  return kind === 'Secret' && apiVersion === 'v1';
}

/** The metadata of a Secret without the copy of its values that kubectl may have left there. */
export function withoutCopy(metadata: KubernetesObject['metadata']): KubernetesObject['metadata'] {
  const { annotations, ...rest } = metadata;
  if (annotations === undefined) return metadata;
  const { [lastApplied]: copy, ...kept } = annotations;
  return copy === undefined ? metadata : { ...rest, annotations: kept };
}

/** Fields that the API server writes; their changes are not part of a forecast. */
const serverFields: ReadonlySet<string> = new Set([
  'creationTimestamp',
  'generation',
  'managedFields',
  'resourceVersion',
  'selfLink',
  'uid',
]);

/** The content of an object without its status and the fields of the server. */
export function wantedContent(object: KubernetesObject): KubernetesObject {
  const { status: _, ...content } = object;
  const metadata = Object.entries(content.metadata).filter(([field]) => !serverFields.has(field));
  return { ...content, metadata: Object.fromEntries(metadata) };
}
