import { type JsonObject, parseJson } from '../../../api/json.ts';
import { fieldAt, isMap, listOf, mapOf, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { ApiError } from '../../platform/kube/index.ts';
import {
  difference,
  fieldManager,
  fieldsBeyond,
  fieldsOf,
  intersection,
  isLeaf,
  isOwnEntry,
  union,
} from './managed-fields.ts';

/** One field that an apply may change only by force. */
export interface FieldConflict {
  readonly field: string;
  readonly manager: string;
}

/**
 * The fields of other managers that the API server names when it refuses an apply; empty for other
 * refusals.
 */
export function fieldConflicts(error: unknown): readonly FieldConflict[] {
  if (!(error instanceof ApiError) || error.code !== 409) return [];
  const causes = error.status.details?.causes ?? [];
  return causes
    .filter(({ reason }) => reason === 'FieldManagerConflict')
    .map(({ field = '', message = '' }) => ({
      field: field.replace(/^\./, ''),
      manager: /^conflict with "([^"]*)"/.exec(message)?.[1] ?? 'others',
    }));
}

/** An object's managedFields after `takenItems`, and the items' former managers. */
interface TakenItems {
  readonly managedFields: readonly unknown[];
  readonly taken: readonly FieldConflict[];
}

/**
 * Makes core the manager of list items (of lists merged by key) that people added and the bundle
 * does not contain, so that the next apply removes them. Each path names such a list. Items of
 * other appliers stay theirs. Undefined when there is no such item.
 */
export function takenItems(
  live: KubernetesObject,
  desired: KubernetesObject,
  paths: readonly (readonly string[])[],
): TakenItems | undefined {
  const entries = listOf(fieldAt(live.metadata, 'managedFields'));
  const stray = paths
    .map((path) => strayItems(entries.filter(isByHand), path, listOf(fieldAt(desired, ...path))))
    .reduce(union, {});
  const givers = entries.filter(
    (entry) => isByHand(entry) && !isLeaf(intersection(fieldsOf(entry), stray)),
  );
  const [first] = givers;
  if (first === undefined) return undefined;
  const own = entries.find(isOwnEntry);
  const fieldsV1 = givers
    .map((entry) => intersection(fieldsOf(entry), stray))
    .reduce(union, fieldsOf(own));
  const ours = { ...mapOf(own ?? first), manager: fieldManager, operation: 'Apply', fieldsV1 };
  const others = entries.flatMap((entry) => {
    if (entry === own) return [];
    return givers.includes(entry) ? without(entry, stray) : [entry];
  });
  const taken = givers.flatMap((entry) =>
    fieldsBeyond(intersection(fieldsOf(entry), stray), {}).map((field) => ({
      field,
      manager: stringAt(entry, 'manager') ?? '',
    })),
  );
  return { managedFields: [ours, ...others], taken };
}

/** False for a manager that applies its whole intent each time: it would add the items again. */
function isByHand(entry: unknown): boolean {
  return stringAt(entry, 'operation') === 'Update' && (stringAt(entry, 'subresource') ?? '') === '';
}

/** The items of a list that equal none of the wanted ones, in the notation of fieldsV1. */
function strayItems(
  entries: readonly unknown[],
  path: readonly string[],
  wanted: readonly unknown[],
): JsonObject {
  const steps = path.map((step) => `f:${step}`);
  const items = entries
    .flatMap((entry) => Object.keys(mapOf(fieldAt(fieldsOf(entry), ...steps))))
    .filter((element) => element.startsWith('k:') && !wanted.some((item) => isItem(element, item)));
  if (items.length === 0) return {};
  const leaves = Object.fromEntries(items.map((item) => [item, {}]));
  return steps.reduceRight<JsonObject>((below, step) => ({ [step]: below }), leaves);
}

/** The server fills in fields that the wanted item omits. */
function isItem(element: string, wanted: unknown): boolean {
  const keys = parseJson(element.slice(2));
  return (
    isMap(keys) &&
    Object.entries(keys).every(([key, value]) => [undefined, value].includes(mapOf(wanted)[key]))
  );
}

function without(entry: unknown, stray: JsonObject): readonly unknown[] {
  const fieldsV1 = difference(fieldsOf(entry), stray);
  return isLeaf(fieldsV1) ? [] : [{ ...mapOf(entry), fieldsV1 }];
}
