import type { Budget } from '../budget.ts';
import { VersionError } from '../versions/index.ts';
import { type Decoded, decodeStruct, GoJsonError, type GoStruct, textOf } from './go-json.ts';
import { allOf, anyOf, inPackage, noneOf, type Predicate, providing } from './predicates.ts';
import { ConstraintError } from './requirement.ts';
import { ruleOf } from './rule.ts';

/** UTF-8 bytes of the value as compact JSON. */
const maxBytes = 131_072;
/** Of lists inside of lists: what follows the nesting needs stack for each level. */
const maxDepth = 100;

export interface ParsedConstraint {
  readonly predicate: Predicate;
  readonly failureMessage: string;
}

/**
 * Reads the value of an olm.constraint property.
 * @throws ConstraintError with OLM's text.
 * @throws BudgetError
 */
export function parseConstraint(value: unknown, budget: Budget): ParsedConstraint {
  if (isDeeper(value, maxJsonDepth)) {
    throw new ConstraintError(
      `parse olm.constraint: all, any and not nest more than ${maxDepth} deep: write the constraint flatter`,
    );
  }
  const json = JSON.stringify(value) ?? '';
  // What takes longest is reading its ranges and expressions.
  budget.take(100 + Math.min(json.length, maxBytes));
  if (Buffer.byteLength(json) > maxBytes) {
    throw new ConstraintError(
      `parse olm.constraint: olm.constraint value is greater than max constraint size ${maxBytes} bytes`,
    );
  }
  const decoded = decode(value);
  return { predicate: convert(decoded, budget), failureMessage: textOf(decoded, 'failureMessage') };
}

function decode(value: unknown): Decoded {
  try {
    return decodeStruct(value, constraint);
  } catch (error) {
    if (!(error instanceof GoJsonError)) throw error;
    throw new ConstraintError(`parse olm.constraint: ${error.message}`, { cause: error });
  }
}

function convert(decoded: Decoded, budget: Budget): Predicate {
  try {
    return predicateOf(decoded, budget);
  } catch (error) {
    if (!(error instanceof ConstraintError || error instanceof VersionError)) throw error;
    const message = `convert olm.constraint to resolver predicate: ${error.message}`;
    throw new ConstraintError(message, { cause: error });
  }
}

interface Place {
  readonly whole: Decoded;
  readonly budget: Budget;
}

type Conversion = (value: Decoded, place: Place) => Predicate;

/** The first one that a constraint has is used, in this order; the others are ignored. */
const conversions: readonly (readonly [string, Conversion])[] = [
  [
    'gvk',
    (value) =>
      providing({
        group: textOf(value, 'group'),
        version: textOf(value, 'version'),
        kind: textOf(value, 'kind'),
      }),
  ],
  ['package', (value) => inPackage(textOf(value, 'packageName'), textOf(value, 'versionRange'))],
  ['all', (value, { budget }) => allOf(partsOf(value, budget))],
  ['any', (value, { budget }) => anyOf(partsOf(value, budget))],
  ['not', (value, { budget }) => noneOf(partsOf(value, budget))],
  [
    'cel',
    (value, { whole, budget }) => {
      budget.takeRule();
      return ruleOf(textOf(value, 'rule'), textOf(whole, 'failureMessage'));
    },
  ],
];

function predicateOf(whole: Decoded, budget: Budget): Predicate {
  for (const [name, conversion] of conversions) {
    const value = whole[name];
    if (value !== undefined) return conversion(value as Decoded, { whole, budget });
  }
  throw new ConstraintError('constraint is empty');
}

function partsOf(value: Decoded, budget: Budget): readonly Predicate[] {
  const parts = (value['constraints'] ?? []) as readonly Decoded[];
  return parts.map((part) => predicateOf(part, budget));
}

/** Three levels of JSON for each level of constraints, and two for what the innermost one has. */
const maxJsonDepth = 3 * maxDepth + 2;

/** Whether lists and maps nest deeper; follows no level below. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeper(item, levels - 1));
}

const compound: GoStruct = {
  name: 'CompoundConstraint',
  type: 'constraints.CompoundConstraint',
  strict: true,
  fields: () => ({ constraints: { type: '[]constraints.Constraint', of: constraint } }),
};

const constraint: GoStruct = {
  name: 'Constraint',
  type: 'constraints.Constraint',
  strict: true,
  fields: () => constraintFields,
};

const constraintFields = {
  failureMessage: 'string',
  cel: struct('Cel', 'rule'),
  package: struct('PackageConstraint', 'packageName', 'versionRange'),
  gvk: struct('GVKConstraint', 'group', 'kind', 'version'),
  all: compound,
  any: compound,
  not: compound,
} as const;

function struct(name: string, ...fields: readonly string[]): GoStruct {
  const types = Object.fromEntries(fields.map((field) => [field, 'string' as const]));
  return { name, type: `constraints.${name}`, strict: true, fields: () => types };
}
