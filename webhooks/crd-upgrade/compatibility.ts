import type { JsonValue } from '../../api/json.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import { errorMessage } from '../../core/errors.ts';
import {
  type CrdVersion,
  type CustomResourceDefinition,
  haveSameSchema,
  type ObjectLister,
  resourceOf,
  schemaOf,
  visitObjects,
} from './custom-resources.ts';
import type { JsonSchema } from './schema/json-schema.ts';
import { bounded, validateObject } from './schema/validate.ts';

interface CrdChange {
  readonly live: CustomResourceDefinition;
  readonly next: CustomResourceDefinition;
}

/** The custom resources of one version are to be valid in another. */
interface Check {
  readonly listed: string;
  readonly target: CrdVersion;
}

/**
 * Why a change of a CRD is not safe for the custom resources that there are, or undefined. They are read as the live CRD has them; the first that is not valid ends it.
 */
export async function findIncompatibility(
  change: CrdChange,
  lister: ObjectLister,
  signal: AbortSignal,
): Promise<string | undefined> {
  const removed = removedStoredVersions(change);
  if (removed.length > 0) return `cannot remove stored versions [${removed.join(' ')}]`;
  for (const check of [...checksOfChanged(change), ...checksOfAdded(change)]) {
    const fault = await findInvalid({ check, live: change.live, lister }, signal);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Versions that objects are stored in and that the live CRD still knows. */
function removedStoredVersions({ live, next }: CrdChange): readonly string[] {
  const stored = new Set(live.status?.storedVersions);
  return sortedNames(live).filter((name) => stored.has(name) && find(next, name) === undefined);
}

/** Each version in both that is served and whose schema is another one. */
function checksOfChanged(change: CrdChange): readonly Check[] {
  return commonServed(change).flatMap(({ old, target }) =>
    haveSameSchema(old, target) ? [] : [{ listed: old.name, target }],
  );
}

/** Without a conversion, what there is in other versions is served as it is in a new one. */
function checksOfAdded(change: CrdChange): readonly Check[] {
  const { live, next } = change;
  const { strategy = 'None' } = next.spec.conversion ?? {};
  if (strategy !== 'None') return [];
  const added = sortedNames(next).filter((name) => find(live, name) === undefined);
  return added.flatMap((name) => {
    const target = find(next, name);
    if (target === undefined) return [];
    return commonServed(change).map(({ old }) => ({ listed: old.name, target }));
  });
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

interface Search {
  readonly check: Check;
  readonly live: CustomResourceDefinition;
  readonly lister: ObjectLister;
}

async function findInvalid(
  { check: { listed, target }, live, lister }: Search,
  signal: AbortSignal,
): Promise<string | undefined> {
  const resource = resourceOf(live, listed);
  const schema = schemaOf(target);
  let found: string | undefined;
  try {
    await visitObjects(
      { lister, resource },
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
    const { listKind = `${resource.kind}List` } = live.spec.names;
    const kind = `${resource.group}/${listed}, Kind=${listKind}`;
    throw new Error(`error listing objects for ${kind}: ${errorMessage(error)}`, { cause: error });
  }
  return found;
}

/** What cannot be checked counts as invalid: the answer must not be a guess. */
function faultsOf(object: KubernetesObject, schema: JsonSchema): string | undefined {
  try {
    const outcome = bounded(() => validateObject(object as unknown as JsonValue, schema));
    return outcome.isValid ? undefined : listTexts(outcome.texts, outcome.more);
  } catch (error) {
    return `it cannot be checked: ${errorMessage(error)}`;
  }
}

/** A condition's message is at most 32 KiB, and more is said around these texts. */
const maxBytes = 24 * 1024;

/**
 * One text bare, several as `[a, b]`, as the API server prints lists of errors. What is too long
 * for a message is counted instead: `[a, b, and 7 more]`.
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
  // A character that is cut in two is left out.
  return `${bytes
    .subarray(0, maxBytes)
    .toString('utf8')
    .replace(/\uFFFD$/, '')}…`;
}
