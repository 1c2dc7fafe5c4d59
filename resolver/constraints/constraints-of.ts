import { Budget } from '../budget.ts';
import type { Property } from '../candidates/index.ts';
import { VersionError } from '../versions/index.ts';
import { decodeStruct, GoJsonError, type GoStruct, textOf } from './go-json.ts';
import { parseConstraint } from './olm-constraint.ts';
import { inPackage, type Judged, type Predicate, providing, withLabel } from './predicates.ts';
import { ConstraintError, type Requirement, RuleRefusedError } from './requirement.ts';

/**
 * What a bundle requires, by its properties and in their order; properties of other types require
 * nothing. Reading and judging take of the budget.
 * @throws ConstraintError for the first invalid one.
 * @throws BudgetError
 */
export function constraintsOf(
  properties: readonly Property[],
  budget = new Budget(),
): readonly Requirement[] {
  return properties.flatMap(({ type, value }) => {
    const read = readers.get(type);
    return read === undefined ? [] : [{ type, ...read(value, budget) }];
  });
}

type Read = Omit<Requirement, 'type'>;

const readers: ReadonlyMap<string, (value: unknown, budget: Budget) => Read> = new Map([
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

function readConstraint(value: unknown, budget: Budget): Read {
  const { predicate, failureMessage } = parseConstraint(value, budget);
  const read = requirement(predicate, budget);
  return failureMessage === '' ? read : { ...read, failureMessage };
}

/** A property that is older than olm.constraint: its unknown fields are ignored. */
function legacy(
  fields: readonly string[],
  predicate: (text: (field: string) => string) => Predicate,
): (value: unknown, budget: Budget) => Read {
  const struct = anonymousStruct(fields);
  return (value, budget) => {
    try {
      budget.take(readingSteps + textSteps(value));
      const decoded = decodeStruct(value, struct);
      return requirement(
        predicate((field) => textOf(decoded, field)),
        budget,
      );
    } catch (error) {
      if (!(error instanceof GoJsonError || error instanceof VersionError)) throw error;
      throw new ConstraintError(error.message, { cause: error });
    }
  };
}

const readingSteps = 100;

/** A range takes about as many steps as it has characters. */
function textSteps(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>(
    (sum, each) => sum + (typeof each === 'string' ? each.length : 1),
    0,
  );
}

function anonymousStruct(fields: readonly string[]): GoStruct {
  const types = Object.fromEntries(fields.map((field) => [field, 'string' as const]));
  const shown = fields.map((field) => {
    const goName = `${field.charAt(0).toUpperCase()}${field.slice(1)}`;
    return `${goName} string "json:\\"${field}\\""`;
  });
  return { name: '', type: `struct { ${shown.join('; ')} }`, fields: () => types };
}

function requirement({ text, test }: Predicate, budget: Budget): Read {
  return {
    text,
    isMetBy: (candidate) => verdict(test, { candidate, budget }) === true,
    refusal: (candidate) => {
      const result = verdict(test, { candidate, budget });
      return typeof result === 'string' ? result : undefined;
    },
  };
}

/** A text: why an expression was not evaluated. Its candidate is refused, also below a "not". */
function verdict(test: Predicate['test'], judged: Judged): boolean | string {
  try {
    return test(judged);
  } catch (error) {
    if (error instanceof RuleRefusedError) return error.message;
    throw error;
  }
}
