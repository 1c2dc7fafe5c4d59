import { isInRange, parseRange, readVersion } from '../versions/index.ts';
import { decodeStruct, GoJsonError, type GoStruct, textOf } from './go-json.ts';
import type { Candidate } from './requirement.ts';

/** A test of one candidate, and OLM's words for it. */
export interface Predicate {
  readonly text: string;
  /** @throws RuleRefusedError when an expression is too expensive for the candidate. */
  readonly test: (candidate: Candidate) => boolean;
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
    test: (candidate) =>
      someProperty(candidate, gvk, (value) => {
        return value('group') === group && value('version') === version && value('kind') === kind;
      }),
  };
}

/** @throws VersionError when the range is invalid. */
export function inPackage(name: string, versionRange: string): Predicate {
  const range = parseRange(versionRange);
  const named: Predicate = {
    text: `with package: ${name}`,
    test: (candidate) =>
      candidate.packageName === name ||
      someProperty(candidate, packageProperty, (value) => {
        return value('packageName') === name;
      }),
  };
  const ranged: Predicate = {
    text: `with version in range: ${versionRange}`,
    test: (candidate) =>
      (candidate.version !== undefined && isInRange(candidate.version, range)) ||
      someProperty(candidate, packageProperty, (value) => {
        const version = readVersion(value('version'));
        return version !== undefined && isInRange(version, range);
      }),
  };
  return allOf([named, ranged]);
}

export function withLabel(label: string): Predicate {
  return {
    text: `with label: ${label}`,
    test: (candidate) =>
      someProperty(candidate, labelProperty, (value) => value('label') === label),
  };
}

/** True for every candidate when there are no parts. */
export function allOf(parts: readonly Predicate[]): Predicate {
  return {
    text: joined(parts, ' and '),
    test: (candidate) => parts.every((part) => part.test(candidate)),
  };
}

/** False for every candidate when there are no parts. */
export function anyOf(parts: readonly Predicate[]): Predicate {
  return {
    text: joined(parts, ' or '),
    test: (candidate) => parts.some((part) => part.test(candidate)),
  };
}

/** Its text has no word "not" for a single part, as OLM's. */
export function noneOf(parts: readonly Predicate[]): Predicate {
  const { test } = anyOf(parts);
  return { text: joined(parts, ' and not '), test: (candidate) => !test(candidate) };
}

function joined(parts: readonly Predicate[], separator: string): string {
  return parts.map(({ text }) => text).join(separator);
}

interface PropertyKind {
  readonly type: string;
  readonly struct: GoStruct;
}

function someProperty(
  { properties }: Candidate,
  kind: PropertyKind,
  matches: (value: (field: string) => string) => boolean,
): boolean {
  return properties.some(({ type, value }) => {
    if (type !== kind.type) return false;
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
