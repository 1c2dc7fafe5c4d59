import type { JsonValue } from '../../api/json.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import { bounded, type JsonSchema, validateObject } from '../../api/object-schema/index.ts';
import { errorMessage } from '../../core/errors.ts';
import { ProcessorTimeExceeded, type ProcessorTurns } from './check-turns.ts';
import {
  type CrdVersion,
  type CustomResourceDefinition,
  haveSameSchema,
  type ObjectLister,
  resourceOf,
  schemaOf,
  visitObjects,
} from './custom-resources.ts';

export interface CrdChange {
  readonly live: CustomResourceDefinition;
  readonly next: CustomResourceDefinition;
}

/** A version whose custom resources must be valid under another version's schema. */
interface Check {
  readonly listed: string;
  readonly target: CrdVersion;
}

/** The checks of custom resources that a change of a CRD needs. */
export function checksOf(change: CrdChange): readonly Check[] {
  return [
    ...checksOfChanged(change),
    ...checksOfAdded(change),
    ...checksOfServedAgain(change),
    ...checksOfUnconverted(change),
  ];
}

interface Checking {
  readonly live: CustomResourceDefinition;
  readonly lister: ObjectLister;
  readonly processor: ProcessorTurns;
}

/**
 * Why a change of a CRD is unsafe for its existing custom resources, or undefined. Reads them as
 * the live CRD serves them; stops at the first invalid one.
 */
export async function findIncompatibility(
  checks: readonly Check[],
  checking: Checking,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const check of checks) {
    const fault = await findInvalid(check, checking, signal);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Versions of stored objects that the live CRD still has and the new one lacks. */
export function removedStoredVersions({ live, next }: CrdChange): readonly string[] {
  const stored = new Set(live.status?.storedVersions);
  return sortedNames(live).filter((name) => stored.has(name) && find(next, name) === undefined);
}

/** Each version that both serve with a different schema. */
function checksOfChanged(change: CrdChange): readonly Check[] {
  return commonServed(change).flatMap(({ old, target }) =>
    haveSameSchema(old, target) ? [] : [{ listed: old.name, target }],
  );
}

/** Without a conversion, objects of other versions are served unchanged in a new version. */
function checksOfAdded(change: CrdChange): readonly Check[] {
  const { live, next } = change;
  if (isConverted(next)) return [];
  const added = sortedNames(next).filter((name) => find(live, name) === undefined);
  return added.flatMap((name) => {
    const target = find(next, name);
    if (target === undefined) return [];
    return commonServed(change).map(({ old }) => ({ listed: old.name, target }));
  });
}

/**
 * A version that is served again is as a new one, whatever its schema was: objects of other versions
 * were written without it, and its schema may have changed meanwhile.
 */
function checksOfServedAgain(change: CrdChange): readonly Check[] {
  const { live, next } = change;
  if (isConverted(next)) return [];
  const again = sortedNames(next).flatMap((name) => {
    const target = find(next, name);
    return target?.served === true && find(live, name)?.served === false ? [target] : [];
  });
  return again.flatMap((target) =>
    commonServed(change).flatMap(({ old }) =>
      haveSameSchema(old, target) ? [] : [{ listed: old.name, target }],
    ),
  );
}

/** When a conversion ends, each object is served in all versions as it is stored. */
function checksOfUnconverted(change: CrdChange): readonly Check[] {
  const { live, next } = change;
  if (!isConverted(live) || isConverted(next)) return [];
  const stored = new Set(live.status?.storedVersions);
  const common = commonServed(change);
  return common
    .filter(({ old }) => stored.has(old.name))
    .flatMap(({ old }) =>
      common
        .filter(({ target }) => target.served && target.name !== old.name)
        .flatMap(({ target }) =>
          haveSameSchema(old, target) ? [] : [{ listed: old.name, target }],
        ),
    );
}

function isConverted({ spec }: CustomResourceDefinition): boolean {
  return (spec.conversion?.strategy ?? 'None') !== 'None';
}

function commonServed({
  live,
  next,
}: CrdChange): readonly { readonly old: CrdVersion; readonly target: CrdVersion }[] {
  return sortedNames(live).flatMap((name) => {
    const old = find(live, name);
    const target = find(next, name);
    return old?.served === true && target !== undefined ? [{ old, target }] : [];
  });
}

function sortedNames({ spec }: CustomResourceDefinition): readonly string[] {
  return spec.versions.map(({ name }) => name).toSorted();
}

function find({ spec }: CustomResourceDefinition, version: string): CrdVersion | undefined {
  return spec.versions.find(({ name }) => name === version);
}

async function findInvalid(
  { listed, target }: Check,
  { live, lister, processor }: Checking,
  signal: AbortSignal,
): Promise<string | undefined> {
  const resource = resourceOf(live, listed);
  const schema = schemaOf(target);
  let found: string | undefined;
  try {
    await visitObjects(
      { lister, resource, processor },
      (object) => {
        const faults = faultsOf(object, schema);
        if (faults === undefined) return false;
        const { namespace = '', name } = object.metadata;
        found = `existing custom object ${namespace}/${name} failed validation for new schema version ${target.name}: ${faults}`;
        return true;
      },
      signal,
    );
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ProcessorTimeExceeded) throw error;
    const { listKind = `${resource.kind}List` } = live.spec.names;
    const kind = `${resource.group}/${listed}, Kind=${listKind}`;
    throw new Error(`error listing objects for ${kind}: ${errorMessage(error)}`, { cause: error });
  }
  return found;
}

/** An object that cannot be checked counts as invalid. */
function faultsOf(object: KubernetesObject, schema: JsonSchema): string | undefined {
  try {
    const outcome = bounded(() => validateObject(object as unknown as JsonValue, schema));
    return outcome.isValid ? undefined : listTexts(outcome.texts, outcome.more);
  } catch (error) {
    return `it cannot be checked: ${errorMessage(error)}`;
  }
}

/**
 * Maximum bytes of the list: a condition's message has at most 32 KiB, including the text around
 * it.
 */
const maxBytes = 24 * 1024;

/**
 * One text as it is, several as `[a, b]`, as the API server prints lists of errors. Counts the
 * texts that are too many: `[a, b, and 7 more]`.
 */
function listTexts(texts: readonly string[], uncounted = 0): string {
  const kept: string[] = [];
  let bytes = 0;
  for (const text of texts) {
    bytes += Buffer.byteLength(text);
    if (bytes > maxBytes && kept.length > 0) break;
    kept.push(cut(text));
  }
  const more = texts.length - kept.length + uncounted;
  if (more > 0) kept.push(`and ${more} more`);
  return kept.length === 1 ? (kept[0] ?? '') : `[${kept.join(', ')}]`;
}

function cut(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  // Drops a character that was cut in half.
  return `${bytes
    .subarray(0, maxBytes)
    .toString('utf8')
    .replace(/\uFFFD$/, '')}…`;
}
