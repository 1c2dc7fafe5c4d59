import { isDeepStrictEqual } from 'node:util';
import type { JsonValue } from 'rukpak-ts/sdk';
import { type Fields, isFields } from './fields.ts';
import { type Item, metadataOf, withoutEmptyAnnotations } from './item.ts';
import { quoted } from './quoted.ts';
import { Value } from './value.ts';

/** Applies the operations of RFC 6902 but `move` and `copy`. */
export function applyJsonPatch(item: Item, patch: readonly JsonValue[], entry: Value): void {
  // With kustomize, an object always has annotations while it is patched.
  metadataOf(item)['annotations'] ??= {};
  for (const operation of new Value(patch, entry.file, `${entry.field}.patch`).list()) {
    operation.onlyHas('op', 'path', 'value');
    apply(item.object, operation);
  }
  withoutEmptyAnnotations(item);
}

function apply(object: Fields, operation: Value): void {
  const path = operation.get('path').text();
  const parts = path.split('/').map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const name = parts.pop() ?? '';
  if (parts[0] !== '')
    throw operation.refused(`has the path ${quoted(path)}, which leads to no field`);
  const owner = parts.slice(1).reduce<unknown>(child, object);
  const value = structuredClone(operation.fields()['value'] ?? null);
  const isApplied = Array.isArray(owner)
    ? applyToList(owner, name, { op: operation.get('op').text(), value })
    : isFields(owner) && applyToFields(owner, name, { op: operation.get('op').text(), value });
  if (!isApplied)
    throw operation.refused(`cannot be applied at ${quoted(path)} of ${String(object['kind'])}`);
}

function child(owner: unknown, name: string): unknown {
  if (Array.isArray(owner)) return /^\d+$/.test(name) ? owner[Number(name)] : undefined;
  return isFields(owner) && Object.hasOwn(owner, name) ? owner[name] : undefined;
}

interface Operation {
  readonly op: string;
  readonly value: unknown;
}

function applyToFields(owner: Fields, name: string, { op, value }: Operation): boolean {
  const isThere = Object.hasOwn(owner, name);
  if (op === 'test') return isDeepStrictEqual(isThere ? owner[name] : null, value);
  // To replace what is not there adds it, in kustomize too.
  if (op === 'add' || op === 'replace') owner[name] = value;
  else if (op === 'remove' && isThere) delete owner[name];
  else return false;
  return true;
}

function applyToList(list: unknown[], name: string, { op, value }: Operation): boolean {
  const at = /^\d+$/.test(name) ? Number(name) : Number.NaN;
  if (op === 'add') return insert(list, name === '-' ? list.length : at, value);
  if (!(at < list.length)) return false;
  if (op === 'test') return isDeepStrictEqual(list[at], value);
  if (op === 'replace') list[at] = value;
  else if (op === 'remove') list.splice(at, 1);
  else return false;
  return true;
}

function insert(list: unknown[], at: number, value: unknown): boolean {
  if (!(at <= list.length)) return false;
  list.splice(at, 0, value);
  return true;
}
