import { fail } from 'node:assert';
import { type BundleFiles, type ContentLimits, errorMessage } from '../../core/sdk.ts';
import { abortedResults, thrownBy } from '../calls.ts';
import { assertContent } from '../content.ts';
import { assertEqual, assertRefusal } from '../suite.ts';
import type { Given } from './given.ts';
import { comparable, givesContent, type Trial } from './trial.ts';

/** Others use a handler's arguments too: it must not change content, object or context. */
export async function checkUnchangedArguments(trial: Trial): Promise<void> {
  const given = await trial.given();
  const before = structuredClone(factsOf(given));
  await trial.run(given);
  assertEqual(factsOf(given), before, 'it changed its arguments: change copies instead');
}

function factsOf({ files, object, context }: Given): object {
  const { inputs, cluster, seed, limits } = context;
  const bytes = [...inputs, seed].map((value) => (value === undefined ? null : [...value]));
  return { content: comparable('bundle', files), object, bytes, cluster, limits };
}

/** An aborted handler must end within a second: with an Error, or with its usual result. */
export async function checkAbort(trial: Trial): Promise<void> {
  const { handler } = trial;
  const usual = comparable(handler, await trial.run(await trial.given()));
  const given = await trial.given();
  const results = await abortedResults((signal) =>
    trial.run({ ...given, context: { ...given.context, signal } }),
  );
  for (const { how, value } of results) {
    const sentence = `${how}, it gave something else than it does otherwise`;
    assertEqual(comparable(handler, value), usual, sentence);
  }
}

/** Number of objects that a class may make from a few files without counting. */
const fewObjects = 100;

/**
 * Under limits that the content just meets, a handler returns at most as much as they allow, or
 * throws a TerminalError. A class over HTTP need not count, because core measures its answer.
 */
export async function checkLimits(
  trial: Trial,
  { remote }: { readonly remote: boolean },
): Promise<void> {
  const given = await trial.given();
  const limits = { ...given.context.limits, ...measuresOf(given.files, trial) };
  const context = { ...given.context, limits };
  let result: unknown;
  const thrown = await thrownBy(async () => {
    result = await trial.run({ ...given, context });
  });
  if (thrown !== undefined) assertMeasured(thrown.error, remote);
  else if (givesContent(trial.handler)) assertContent(result as BundleFiles, limits);
  else assertCount(result as readonly unknown[], limits);
}

function assertMeasured(error: unknown, remote: boolean): void {
  // Messages about a limit name its flag.
  if (remote && /\(--max-content-[-a-z]+\)/.test(errorMessage(error))) return;
  assertRefusal(error, 'TerminalError');
}

function assertCount(objects: readonly unknown[], { maxEntries }: ContentLimits): void {
  if (objects.length <= maxEntries) return;
  fail(
    `it gave ${objects.length} objects where context.limits.maxEntries is ${maxEntries}: throw a TerminalError`,
  );
}

function measuresOf(
  { files, directories }: BundleFiles,
  { handler }: Trial,
): Partial<ContentLimits> {
  const paths = [...files.keys(), ...directories];
  // For handlers that return objects, only their number is limited.
  if (!givesContent(handler)) return { maxEntries: Math.max(paths.length, fewObjects) };
  return {
    maxBytes: [...files.values()].reduce((sum, { byteLength }) => sum + byteLength, 0),
    maxEntries: paths.length,
    maxPathLength: Math.max(0, ...paths.map((path) => Buffer.byteLength(path))),
    maxDepth: Math.max(0, ...paths.map((path) => path.split('/').length)),
  };
}
