import type { Property } from '../candidates/index.ts';
import { VersionError } from '../versions/index.ts';
import { decodeStruct, GoJsonError, type GoStruct, textOf } from './go-json.ts';
import { parseConstraint } from './olm-constraint.ts';
import { inPackage, type Predicate, providing, withLabel } from './predicates.ts';
import {
  type Candidate,
  ConstraintError,
  type Requirement,
  RuleRefusedError,
} from './requirement.ts';

/**
 * What a bundle requires, by its properties and in their order; properties of other types require
 * nothing.
 * @throws ConstraintError for the first invalid one.
 */
export function constraintsOf(properties: readonly Property[]): readonly Requirement[] {
  return properties.flatMap(({ type, value }) => {
    const read = readers.get(type);
    return read === undefined ? [] : [{ type, ...read(value) }];
  });
}

type Read = Omit<Requirement, 'type'>;

const readers: ReadonlyMap<string, (value: unknown) => Read> = new Map([
  ['olm.constraint', readConstraint],
  [
    'olm.gvk.required',
    legacy(['group', 'version', 'kind'], (text) =>
      providing({ group: text('group'), version: text('version'), kind: text('kind') }),
    ),
  ],
  [
    'olm.package.required',
    legacy(['packageName', 'versionRange'], (text) =>
      inPackage(text('packageName'), text('versionRange')),
    ),
  ],
  ['olm.label.required', legacy(['label'], (text) => withLabel(text('label')))],
]);

function readConstraint(value: unknown): Read {
  const { predicate, failureMessage } = parseConstraint(value);
  const read = requirement(predicate);
  return failureMessage === '' ? read : { ...read, failureMessage };
}

/** A property that is older than olm.constraint: its unknown fields are ignored. */
function legacy(
  fields: readonly string[],
  predicate: (text: (field: string) => string) => Predicate,
): (value: unknown) => Read {
  const struct = anonymousStruct(fields);
  return (value) => {
    try {
      const decoded = decodeStruct(value, struct);
      return requirement(predicate((field) => textOf(decoded, field)));
    } catch (error) {
      if (!(error instanceof GoJsonError || error instanceof VersionError)) throw error;
      throw new ConstraintError(error.message, { cause: error });
    }
  };
}

function anonymousStruct(fields: readonly string[]): GoStruct {
  const types = Object.fromEntries(fields.map((field) => [field, 'string' as const]));
  const shown = fields.map((field) => {
    const goName = `${field.charAt(0).toUpperCase()}${field.slice(1)}`;
    return `${goName} string "json:\\"${field}\\""`;
  });
  return { name: '', type: `struct { ${shown.join('; ')} }`, fields: () => types };
}

function requirement({ text, test }: Predicate): Read {
  return {
    text,
    isMetBy: (candidate) => verdict(test, candidate) === true,
    refusal: (candidate) => {
      const result = verdict(test, candidate);
      return typeof result === 'string' ? result : undefined;
    },
  };
}

/** A text: why an expression was not evaluated. Its candidate is refused, also below a "not". */
function verdict(test: Predicate['test'], candidate: Candidate): boolean | string {
  try {
    return test(candidate);
  } catch (error) {
    if (error instanceof RuleRefusedError) return error.message;
    throw error;
  }
}
