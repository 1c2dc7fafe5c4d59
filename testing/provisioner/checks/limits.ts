import { fail } from 'node:assert';
import { type BundleFiles, type ContentLimits, errorMessage } from '../../../core/sdk.ts';
import { assertContent } from '../../assert-content.ts';
import { assertRefusal } from '../../assert-refusal.ts';
import { thrownBy } from '../../thrown-by.ts';
import { givesContent } from '../given.ts';
import type { Trial } from '../trial.ts';

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
