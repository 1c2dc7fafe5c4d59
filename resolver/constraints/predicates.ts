import type { Budget } from '../budget.ts';
import { isInRange, parseRange, rangeSteps, readVersion, type Version } from '../versions/index.ts';
import { decodeStruct, GoJsonError, type GoStruct, textOf } from './go-json.ts';
import type { Candidate } from './requirement.ts';

/** A test of one candidate, and OLM's words for it. */
export interface Predicate {
  readonly text: string;
  /**
   * @throws RuleRefusedError when an expression is too expensive for the candidate.
   * @throws BudgetError
   */
  readonly test: (judged: Judged) => boolean;
}

/** A candidate, and what judging it may take. */
export interface Judged {
  readonly candidate: Candidate;
  readonly budget: Budget;
}

/** The fields that a property has in OLM; a property with others of a wrong type is ignored. */
export const gvk = propertyOf('olm.gvk', 'group', 'kind', 'version');
export const packageProperty = propertyOf('olm.package', 'packageName', 'version', 'release');
const labelProperty = propertyOf('olm.label', 'label');

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export function providing({ group, version, kind }: GroupVersionKind): Predicate {
  return {
    text: `providing an API with group: ${group}, version: ${version}, kind: ${kind}`,
    test: (judged) =>
      someProperty(judged, gvk, (value) => {
        return value('group') === group && value('version') === version && value('kind') === kind;
      }),
  };
}

/** @throws VersionError when the range is invalid. */
export function inPackage(name: string, versionRange: string): Predicate {
  const range = parseRange(versionRange);
  const steps = rangeSteps(range);
  const named: Predicate = {
    text: `with package: ${name}`,
    test: (judged) =>
      judged.candidate.packageName === name ||
      someProperty(judged, packageProperty, (value) => {
        return value('packageName') === name;
      }),
  };
  const ranged: Predicate = {
    text: `with version in range: ${versionRange}`,
    test: (judged) => {
      const { version: own } = judged.candidate;
      const isIn = (version: Version) => {
        judged.budget.take(steps);
        return isInRange(version, range);
      };
      return (
        (own !== undefined && isIn(own)) ||
        someProperty(judged, packageProperty, (value) => {
          const version = readVersion(value('version'));
          return version !== undefined && isIn(version);
        })
      );
    },
  };
  return allOf([named, ranged]);
}

export function withLabel(label: string): Predicate {
  return {
    text: `with label: ${label}`,
    test: (judged) => someProperty(judged, labelProperty, (value) => value('label') === label),
  };
}

/** True for every candidate when there are no parts. */
export function allOf(parts: readonly Predicate[]): Predicate {
  return {
    text: joined(parts, ' and '),
    test: (judged) => parts.every((part) => part.test(judged)),
  };
}

/** False for every candidate when there are no parts. */
export function anyOf(parts: readonly Predicate[]): Predicate {
  return {
    text: joined(parts, ' or '),
    test: (judged) => parts.some((part) => part.test(judged)),
  };
}

/** Its text has no word "not" for a single part, as OLM's. */
export function noneOf(parts: readonly Predicate[]): Predicate {
  const { test } = anyOf(parts);
  return { text: joined(parts, ' and not '), test: (judged) => !test(judged) };
}

function joined(parts: readonly Predicate[], separator: string): string {
  return parts.map(({ text }) => text).join(separator);
}

interface PropertyKind {
  readonly type: string;
  readonly struct: GoStruct;
}

/** Steps of reading a property of a bundle. */
const decodingSteps = 20;

function someProperty(
  { candidate: { properties }, budget }: Judged,
  kind: PropertyKind,
  matches: (value: (field: string) => string) => boolean,
): boolean {
  budget.take(1 + properties.length);
  return properties.some(({ type, value }) => {
    if (type !== kind.type) return false;
    budget.take(decodingSteps);
    const decoded = decodedOrNot(value, kind.struct);
    return decoded !== undefined && matches((field) => textOf(decoded, field));
  });
}

export function decodedOrNot(value: unknown, struct: GoStruct) {
  try {
    return decodeStruct(value, struct);
  } catch (error) {
    if (error instanceof GoJsonError) return undefined;
    throw error;
  }
}

function propertyOf(type: string, ...fields: readonly string[]): PropertyKind {
  const types = Object.fromEntries(fields.map((field) => [field, 'string' as const]));
  return { type, struct: { name: '', type: '', fields: () => types } };
}
