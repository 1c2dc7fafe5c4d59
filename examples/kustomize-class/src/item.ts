import { type Fields, isFields } from './fields.ts';
import { quoted } from './quoted.ts';
import { isClusterScoped } from './scope.ts';

/** What tells objects apart. */
export interface Identity {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** `default` where an object names none; empty for what belongs to no namespace. */
  readonly namespace: string;
}

/** An object on its way through the steps, which change it in place. */
export interface Item {
  readonly object: Fields;
  /** Who it was before steps renamed it, oldest first: patches and references may use any. */
  readonly formerly: Identity[];
  /** What was put before its name and behind it, in this order. */
  readonly prefixes: string[];
  readonly suffixes: string[];
  /** Whether a hash of its content goes behind its name. */
  readonly hashed: boolean;
}

export function anItem(object: Fields, hashed = false): Item {
  return { object, formerly: [], prefixes: [], suffixes: [], hashed };
}

export function metadataOf({ object }: Item): Fields {
  const metadata = object['metadata'];
  return isFields(metadata) ? metadata : (object['metadata'] = {});
}

export function identityOf(item: Item): Identity {
  const { name, namespace } = metadataOf(item);
  const apiVersion = String(item.object['apiVersion']);
  const kind = String(item.object['kind']);
  const place = typeof namespace === 'string' ? namespace : 'default';
  const isPlaced = !isClusterScoped(apiVersion, kind);
  return { apiVersion, kind, name: String(name), namespace: isPlaced ? place : '' };
}

/** As kustomize leaves an object that has none. */
export function withoutEmptyAnnotations(item: Item): Item {
  const metadata = metadataOf(item);
  const { annotations } = metadata;
  if (isFields(annotations) && Object.keys(annotations).length === 0)
    delete metadata['annotations'];
  return item;
}

/** To be called before a step may change the name or the namespace. */
export function remember(item: Item): void {
  item.formerly.push(identityOf(item));
}

export function isSame(a: Identity, b: Identity): boolean {
  return isOfKind(a, b) && a.name === b.name && a.namespace === b.namespace;
}

export function described({ kind, name, namespace }: Identity): string {
  return `${kind} ${quoted(name)}${namespace === '' ? '' : ` in namespace ${quoted(namespace)}`}`;
}

function isOfKind(a: Identity, b: Identity): boolean {
  return a.apiVersion === b.apiVersion && a.kind === b.kind;
}
