import { isObject, typeOf } from '../../../api/spec-config.ts';
import type { InputReference } from '../../../core/sdk.ts';
import { configError } from './config-error.ts';

const defaultKey = 'values.yaml';
const known = ['kind', 'name', 'valuesKey', 'optional'];
/** More than anybody has, and no burden yet. */
const maxReferences = 64;
const objectName = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;
const dataKey = /^[-._a-zA-Z0-9]{1,253}$/;

/** Where values come from, in Flux's words. */
export function parseValuesFrom(list: unknown): readonly InputReference[] {
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list))
    throw configError('valuesFrom', `is ${typeOf(list)}: it must be a list`);
  if (list.length > maxReferences) {
    throw configError('valuesFrom', `has ${list.length} items, more than ${maxReferences}`);
  }
  return list.map((item: unknown, index) => parseReference(item, `valuesFrom[${index}]`));
}

function parseReference(item: unknown, path: string): InputReference {
  if (!isObject(item)) {
    throw configError(path, `is ${typeOf(item)}: it must be an object with kind and name`);
  }
  const other = Object.keys(item).find((field) => !known.includes(field));
  if (other !== undefined) {
    throw configError(`${path}.${other}`, `is not known: there are ${known.join(', ')}`);
  }
  const { kind, optional } = item;
  if (kind !== 'ConfigMap' && kind !== 'Secret') {
    throw configError(`${path}.kind`, 'must be ConfigMap or Secret');
  }
  if (optional !== undefined && typeof optional !== 'boolean') {
    throw configError(`${path}.optional`, `is ${typeOf(optional)}: it must be true or false`);
  }
  const name = text(item['name'], objectName, `${path}.name`);
  const key = text(item['valuesKey'] ?? defaultKey, dataKey, `${path}.valuesKey`);
  return { kind, name, key, ...(optional === true ? { optional } : {}) };
}

function text(value: unknown, pattern: RegExp, path: string): string {
  if (typeof value === 'string' && pattern.test(value)) return value;
  const what = pattern === objectName ? 'name of an object' : 'key of a ConfigMap or Secret';
  const is = value === undefined ? 'is missing: it' : '';
  throw configError(path, `${is} must be the ${what}`.trim());
}
