import { fail } from 'node:assert';
import { type BundleFiles, type ContentLimits, errorMessage } from '../../core/sdk.ts';
import { abortedResults, thrownBy } from '../calls.ts';
import { assertContent } from '../content.ts';
import { assertEqual, assertRefusal } from '../suite.ts';
import type { Given } from './given.ts';
import { comparable, givesContent, type Trial } from './trial.ts';

/** What a handler is given is others' too: content, object and context are as they were. */
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

/** An aborted handler ends within a second: with an Error, or with its usual result. */
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

/** What a class may make of a file or two without counting. */
const fewObjects = 100;

/**
 * Under limits that the given content just fits, a handler gives no more than they allow, or says
 * with a TerminalError that it would be more. What a class behind a URL answers is measured before
 * anybody sees it, so it need not count.
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
  // Of what it makes objects of is bounded how many there are, whatever they hold.
  if (!givesContent(handler)) return { maxEntries: Math.max(paths.length, fewObjects) };
  return {
    maxBytes: [...files.values()].reduce((sum, { byteLength }) => sum + byteLength, 0),
    maxEntries: paths.length,
    maxPathLength: Math.max(0, ...paths.map((path) => Buffer.byteLength(path))),
    maxDepth: Math.max(0, ...paths.map((path) => path.split('/').length)),
  };
}
