import { isIntegral } from './numbers.ts';
import { Outcome } from './outcome.ts';
import { type Kind, kindOf, type Subject, typesOf } from './subject.ts';
import { supportedFormat } from './supported-format.ts';
import { wrongType } from './violations.ts';

/** What Go's validator takes for the format of a value that has one by its type alone. */
const inherentFormat: Partial<Record<Kind, string>> = { integer: 'int64', number: 'float64' };

/** Whether the value has the type, as go-openapi decides: a format can weaken the question. */
export function checkType(subject: Subject): Outcome {
  const { value, schema, path } = subject;
  const types = typesOf(schema);
  const kind = kindOf(value);
  const isRight =
    kind === 'null' ? types.length === 0 || schema.nullable === true : hasType(subject, kind);
  if (isRight) {
    const outcome = new Outcome();
    outcome.matches = 1;
    return outcome;
  }
  const format = supportedFormat(schema);
  const inherent = inherentFormat[kind] ?? '';
  const isTold = format !== '' && isScalarOrObject(kind) && format !== inherent;
  return Outcome.of(
    isTold ? wrongType(path, format, inherent) : wrongType(path, types.join(','), kind),
  );
}

function hasType({ value, schema }: Subject, kind: Kind): boolean {
  const types = typesOf(schema);
  if (types.includes(kind)) return true;
  if (kind === 'integer') return types.includes('number');
  if (kind === 'number') return types.includes('integer') && isIntegral(Number(value));
  // The format's own check is to tell; it says nothing about lists.
  const isNumeric = types.includes('number') || types.includes('integer');
  return supportedFormat(schema) !== '' && !isScalarOrObject(kind) && !isNumeric;
}

/** Kinds that a format of strings cannot be meant for. */
function isScalarOrObject(kind: Kind): boolean {
  return kind !== 'string' && kind !== 'array' && kind !== 'null';
}
