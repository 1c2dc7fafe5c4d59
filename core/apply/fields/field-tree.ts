import { type JsonObject, parseJson, stringifyJson } from '../../../api/json.ts';
import { isMap, listOf } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { IgnoredFields } from '../../../api/v1alpha1/deployment-policies.ts';
import { TerminalError } from '../../errors.ts';
import type { ObjectKey, Resource } from '../../platform/kube/index.ts';

/** The fields of one object that core ignores (spec.drift.ignore). */
export interface IgnoredTree {
  /** Equal for the same pointers. */
  readonly key: string;
  readonly tree: FieldTree;
}

/**
 * The fields that the deployment's rules ignore in an object of its bundle; undefined when there
 * are none.
 */
export function ignoredIn(
  owner: BundleDeployment,
  { resource, key }: { readonly resource: Resource; readonly key: ObjectKey },
  object: KubernetesObject,
): IgnoredTree | undefined {
  const rules = owner.spec?.drift?.ignore ?? [];
  const paths = rules.filter((rule) => isFor(rule, resource, key)).flatMap((rule) => rule.paths);
  if (paths.length === 0) return undefined;
  const pointers = [...new Set(paths)].sort();
  return { key: JSON.stringify(pointers), tree: fieldTree(pointers, object) };
}

function isFor(rule: IgnoredFields, { group, kind }: Resource, key: ObjectKey): boolean {
  return (
    (rule.group ?? group) === group &&
    (rule.kind ?? kind) === kind &&
    (rule.namespace ?? key.namespace) === key.namespace &&
    (rule.name ?? key.name) === key.name
  );
}

/**
 * Some fields of one object, by the JSON pointers that name them. The tree remembers the scalars of
 * a list's items, to find the index of an item that the API server names `k:{"name":"app"}`.
 */
export interface FieldTree {
  /** True when everything below belongs to the tree. */
  readonly whole: boolean;
  /** By map key or list index; `*` matches all. */
  readonly children: ReadonlyMap<string, FieldTree>;
  /** The items of the object's list at this place, if it is a list. */
  readonly items?: readonly unknown[];
}

/** With `*` in different places, each segment doubles the number of fields. */
const maxFields = 10_000;

interface Branch {
  whole: boolean;
  readonly children: Map<string, Branch>;
}

/**
 * The tree of JSON pointers (RFC 6901) in `object`; `*` in a pointer matches each item or key.
 * @throws TerminalError when the pointers name too many fields.
 */
export function fieldTree(pointers: Iterable<string>, object: unknown): FieldTree {
  const root: Branch = { whole: false, children: new Map() };
  for (const pointer of pointers) {
    let branch = root;
    for (const segment of segmentsOf(pointer)) {
      const child = branch.children.get(segment) ?? { whole: false, children: new Map() };
      branch.children.set(segment, child);
      branch = child;
    }
    branch.whole = true;
  }
  return resolved([root], object, { fields: 0 });
}

/** The tree below a map key or list index. */
export function childTree(tree: FieldTree | undefined, key: string): FieldTree | undefined {
  return tree?.children.get(key) ?? tree?.children.get('*');
}

/** The tree below one path element of fieldsV1: `f:<field>`, `k:<keys>`, `v:<value>` or `i:<index>`. */
export function elementTree(tree: FieldTree | undefined, element: string): FieldTree | undefined {
  if (tree === undefined || element === '.') return undefined;
  const operand = element.slice(2);
  if (element.startsWith('f:') || element.startsWith('i:')) return childTree(tree, operand);
  const index = (tree.items ?? []).findIndex((item) => isItem(item, element));
  return childTree(tree, String(index));
}

/** True when a path element of fieldsV1 names this item of a list. */
export function isItem(item: unknown, element: string): boolean {
  if (!element.startsWith('v:') && !element.startsWith('k:')) return false;
  const operand = parseJson(element.slice(2));
  if (element.startsWith('v:')) return stringifyJson(item) === stringifyJson(operand);
  if (!isMap(item) || !isMap(operand)) return false;
  // A key that the item omits has its default.
  return Object.entries(operand).every(
    ([key, expected]) =>
      item[key] === undefined || stringifyJson(item[key]) === stringifyJson(expected),
  );
}

/**
 * The value without the fields of the tree; list items become null, so that the other items keep
 * their index.
 */
export function withoutFields(value: unknown, tree: FieldTree | undefined): unknown {
  if (tree === undefined) return value;
  if (Array.isArray(value)) {
    return value.map((item, index) => {
      const child = childTree(tree, String(index));
      return child?.whole === true ? null : withoutFields(item, child);
    });
  }
  if (!isMap(value)) return value;
  const kept = Object.entries(value).flatMap(([key, field]) => {
    const child = childTree(tree, key);
    return child?.whole === true ? [] : [[key, withoutFields(field, child)]];
  });
  return Object.fromEntries(kept);
}

function segmentsOf(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/**
 * Merges branches of the same place into one tree. Keys that `*` matches in the object get a branch
 * of their own.
 */
function resolved(
  branches: readonly Branch[],
  value: unknown,
  seen: { fields: number },
): FieldTree {
  seen.fields += 1;
  if (seen.fields > maxFields) {
    throw new TerminalError(
      `spec.drift.ignore names more than ${maxFields} fields of an object: use fewer paths with * in them`,
    );
  }
  const named = branches.flatMap(({ children }) => [...children.keys()]);
  const all = named.includes('*') ? [...named, ...keysOf(value)] : named;
  const children = [...new Set(all)].map((key): [string, FieldTree] => {
    const below = branches.flatMap(({ children: own }) => [own.get(key), own.get('*')]);
    const found = new Set(below.filter((branch) => branch !== undefined));
    return [key, resolved([...found], childValue(value, key), seen)];
  });
  const tree = { whole: branches.some(({ whole }) => whole), children: new Map(children) };
  return Array.isArray(value) ? { ...tree, items: listOf(value).map(scalarsOf) } : tree;
}

function keysOf(value: unknown): readonly string[] {
  return typeof value === 'object' && value !== null ? Object.keys(value) : [];
}

function childValue(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return listOf(value)[Number(key)];
  return isMap(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Scalars are enough to identify an item; the rest is not worth its memory. */
function scalarsOf(item: unknown): unknown {
  if (!isMap(item)) return item;
  return Object.fromEntries(Object.entries(item).filter(([, value]) => typeof value !== 'object'));
}

/** Path of a field in a map, as people read it: `spec.replicas`, `data["a.b"]`. */
export function fieldPath(parent: string, key: string): string {
  if (!/^[\w-]+$/.test(key)) return `${parent}[${JSON.stringify(key)}]`;
  return parent === '' ? key : `${parent}.${key}`;
}

/** Path of an item in a list: by the fields that tell it apart, or by its index. */
export function itemPath(parent: string, item: JsonObject | number): string {
  if (typeof item === 'number') return `${parent}[${item}]`;
  const keys = Object.entries(item).map(([key, value]) => `${key}=${stringifyJson(value)}`);
  return `${parent}[${keys.join(',')}]`;
}
