import { fail } from 'node:assert';
import { type BundleFiles, errorMessage, parseObjects, stringifyJson } from '../../core/sdk.ts';
import { assertContent, bundleFiles, contentTexts, type FileTexts } from '../content.ts';
import { assertEqual } from '../suite.ts';
import type { AcceptedContent, ConfiguredContent, DeploymentFixture } from './fixtures.ts';
import { givesContent, type HandlerName, type Trial } from './trial.ts';

/** Limits of core for the inputs of a deployment. */
const maxReferences = 100;
const longestName = 253;

/** The expectations of a fixture. */
export type Expected = Pick<AcceptedContent, 'stored'> &
  Pick<ConfiguredContent, 'adapted'> &
  Pick<DeploymentFixture, 'objects'>;

/** The handler must accept the fixture, and return what the fixture expects, if anything. */
export async function checkResult(
  trial: Trial,
  { stored, adapted, objects }: Expected,
): Promise<void> {
  const result = await trial.run(await trial.given());
  assertWellShaped(trial.handler, result);
  if (stored !== undefined && trial.handler === 'bundle') {
    assertTexts(result, stored, 'its stored content differs from the fixture');
  }
  if (adapted !== undefined && trial.handler === 'configure') {
    assertTexts(result, adapted, 'its adapted content differs from the fixture');
  }
  if (objects !== undefined && trial.handler === 'deployment') {
    assertEqual(result, objects, 'its objects are not those of the fixture');
  }
}

function assertTexts(result: unknown, texts: FileTexts, sentence: string): void {
  assertEqual(contentTexts(result as BundleFiles), contentTexts(bundleFiles(texts)), sentence);
}

/** Checks that a handler's result has the contract's form; fails naming the wrong part. */
export function assertWellShaped(handler: HandlerName, result: unknown): void {
  if (givesContent(handler)) return assertContent(result as BundleFiles);
  if (!Array.isArray(result)) fail(`it returned ${shown(result)}, and is to return an array`);
  if (handler === 'inputs' && result.length > maxReferences) {
    fail(`it asks for ${result.length} inputs, and may ask for ${maxReferences}`);
  }
  for (const [index, entry] of result.entries()) {
    if (handler === 'deployment') assertObject(entry, `object ${index}`);
    else assertReference(entry, `input ${index}`);
  }
}

function assertObject(entry: unknown, place: string): void {
  const wrong = notJson(entry, place);
  if (wrong !== undefined) fail(`${wrong}: objects are data that JSON can say`);
  const { apiVersion, kind, metadata } = fieldsOf(entry, place);
  assertText(apiVersion, `${place}: apiVersion`);
  assertText(kind, `${place}: kind`);
  assertText(fieldsOf(metadata, `${place}: metadata`)['name'], `${place}: metadata.name`);
  assertMetadata({ apiVersion, kind, metadata }, place);
}

/** Core refuses metadata that Kubernetes cannot read. */
function assertMetadata(head: object, place: string): void {
  try {
    parseObjects(new TextEncoder().encode(stringifyJson(head)));
  } catch (error) {
    fail(`${place} cannot be applied: ${errorMessage(error)}`);
  }
}

function assertReference(entry: unknown, place: string): void {
  const { kind, name, key, optional } = fieldsOf(entry, place);
  if (kind !== 'ConfigMap' && kind !== 'Secret') {
    fail(`${place}: kind is ${shown(kind)}, and is to be ConfigMap or Secret`);
  }
  assertShortText(name, `${place}: name`);
  assertShortText(key, `${place}: key`);
  if (optional !== undefined && typeof optional !== 'boolean') {
    fail(`${place}: optional is ${shown(optional)}, and is to be true or false`);
  }
}

function assertShortText(value: unknown, place: string): void {
  assertText(value, place);
  const { length } = String(value);
  if (length > longestName) fail(`${place} has ${length} characters, and may have ${longestName}`);
}

function fieldsOf(value: unknown, place: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  return fail(`${place} is ${shown(value)}, and is to be an object`);
}

function assertText(value: unknown, place: string): void {
  if (typeof value !== 'string' || value === '') {
    fail(`${place} is ${shown(value)}, and is to be a text that is not empty`);
  }
}

function shown(value: unknown): string {
  try {
    return typeof value === 'string' ? JSON.stringify(value) : String(value);
  } catch (error) {
    return `something that cannot be shown (${errorMessage(error)})`;
  }
}

/**
 * The place and problem of a value that JSON cannot express; undefined for a valid one. Integers
 * may be `bigint`; members may be `undefined`, and are then omitted.
 */
function notJson(
  value: unknown,
  place: string,
  parents: readonly object[] = [],
): string | undefined {
  if (typeof value !== 'object' || value === null) return notJsonScalar(value, place);
  if (parents.includes(value)) return `${place} is an object that holds itself`;
  const family = [...parents, value];
  if (Array.isArray(value)) {
    return firstOf(value.entries(), ([index, member]) =>
      notJson(member, `${place}[${index}]`, family),
    );
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) {
    return `${place} is a ${value.constructor.name}`;
  }
  return firstOf(Object.entries(value), ([key, member]) =>
    notJson(member, `${place}.${key}`, family),
  );
}

function notJsonScalar(value: unknown, place: string): string | undefined {
  if (typeof value === 'number' && !Number.isFinite(value)) return `${place} is ${value}`;
  const isCode = typeof value === 'function' || typeof value === 'symbol';
  return isCode ? `${place} is a ${typeof value}` : undefined;
}

function firstOf<M>(
  members: Iterable<M>,
  find: (member: M) => string | undefined,
): string | undefined {
  for (const member of members) {
    const found = find(member);
    if (found !== undefined) return found;
  }
  return undefined;
}
