import type { Response } from 'express';
import { WaitingError } from '../errors.ts';
import { bundleNameOf } from './archive-name.ts';
import { type OpenArchive, openArchive } from './open-archive.ts';
import type { ServedBundles } from './served-bundles.ts';

/** Milliseconds; well before the connection counts as idle. */
const patience = 45_000;

/**
 * The archive of the Bundle that has the file's name now: never one of a namesake before it. What is
 * not stored here is restored, as long as the client waits.
 * @throws WaitingError where it cannot be had for now.
 */
export async function currentArchive(
  fileName: string,
  { directory, bundles }: { readonly directory: string; readonly bundles: ServedBundles },
  response: Response,
): Promise<OpenArchive | undefined> {
  const name = bundleNameOf(fileName);
  const uid = name === undefined ? undefined : bundles.uidOf(name);
  if (name === undefined || uid === undefined) return undefined;
  const key = { name, uid };
  const stored = await openArchive(directory, key);
  if (stored !== undefined) return stored;
  const restored = await whileAwaited(response, (signal) => bundles.restore(name, signal));
  return restored ? await openArchive(directory, key) : undefined;
}

async function whileAwaited<T>(
  response: Response,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const giveUp = (): void =>
    ended.abort(new WaitingError('the content is not stored here and still being fetched'));
  const timer = setTimeout(giveUp, patience);
  response.once('close', giveUp);
  try {
    return await work(ended.signal);
  } finally {
    clearTimeout(timer);
    response.off('close', giveUp);
  }
}
