import type { JsonValue } from '../../../api/json.ts';
import type { JsonSchema } from './json-schema.ts';
import { isInteger } from './numbers.ts';
import type { Outcome } from './outcome.ts';

/** A value, the schema that it must meet, and where it lies: `spec.items[0].name`. */
export interface Subject<T extends JsonValue = JsonValue> {
  readonly value: T;
  readonly schema: JsonSchema;
  /** Empty for the root. */
  readonly path: string;
  /** Checks a part of the value, or the value against another schema. */
  readonly validate: (part: SubjectPart) => Outcome;
}

export type SubjectPart = Omit<Subject, 'validate'>;

export type Kind = 'null' | 'boolean' | 'string' | 'integer' | 'number' | 'array' | 'object';

export function kindOf(value: JsonValue): Kind {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  switch (typeof value) {
    case 'boolean':
      return 'boolean';
    case 'string':
      return 'string';
    case 'number':
    case 'bigint':
      return isInteger(value) ? 'integer' : 'number';
    default:
      return 'object';
  }
}

/** The types that a schema allows; none where it does not care. */
export function typesOf(schema: JsonSchema): readonly string[] {
  if (schema['x-kubernetes-int-or-string'] === true) return ['integer', 'string'];
  return schema.type === undefined || schema.type === '' ? [] : [schema.type];
}
