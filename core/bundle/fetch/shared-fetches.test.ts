import { getEventListeners } from 'node:events';
import { expect, test, vi } from 'vitest';
import { anImage } from '../../../test/helpers/objects.ts';
import { aTree } from '../../../test/helpers/registry-bundle.ts';
import { type FetchedContent, OwnFetch, SharedFetches } from './shared-fetches.ts';

const source = anImage('example.com/app:v1');
const memory = { retain: vi.fn(), release: vi.fn() };
const content: FetchedContent = { files: aTree({}), resolvedSource: source, memory };
const { signal } = new AbortController();

const key = 'a key';

async function begun(
  fetches: SharedFetches,
  ...wanted: [(string | undefined)?]
): Promise<OwnFetch> {
  const own = await fetches.join(wanted.length === 0 ? key : wanted[0], signal);
  if (own instanceof OwnFetch) return own;
  throw new Error('somebody else fetches');
}

test('who comes during a fetch gets its content, who comes later fetches again', async () => {
  const fetches = new SharedFetches();
  const own = await begun(fetches);
  const others = [fetches.join(key, signal), fetches.join(key, signal)];
  own.succeed(content);
  own.giveUp();
  expect(await Promise.all(others)).toEqual([content, content]);
  expect(memory.retain).toHaveBeenCalledTimes(2);
  // Nothing is left of a wait at a signal that lives on.
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  await begun(fetches);
});

test('who waits for a place gets the content of a fetch that begins meanwhile', async () => {
  memory.retain.mockClear();
  const fetches = new SharedFetches();
  const waiting = [fetches.contentOf(key, signal), fetches.contentOf(key, signal)];
  const gone = new AbortController();
  const other = fetches.contentOf(key, gone.signal);
  gone.abort(new Error('deleted'));
  await expect(other).rejects.toThrow('deleted');
  (await begun(fetches)).giveUp();
  (await begun(fetches)).succeed(content);
  expect(await Promise.all(waiting)).toEqual([content, content]);
  expect(memory.retain).toHaveBeenCalledTimes(2);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  const later = fetches.contentOf(key, signal);
  (await begun(fetches)).fail(new Error('denied'));
  await expect(later).rejects.toThrow('denied');
});

test('a failure is everybody’s', async () => {
  const fetches = new SharedFetches();
  const own = await begun(fetches);
  const other = fetches.join(key, signal);
  own.fail(new Error('denied'));
  await expect(other).rejects.toThrow('denied');
});

test('when a fetch is given up, one of those who wait takes over', async () => {
  const fetches = new SharedFetches();
  const own = await begun(fetches);
  const others = [fetches.join(key, signal), fetches.join(key, signal)];
  own.giveUp();
  const next = await Promise.race(others);
  if (!(next instanceof OwnFetch)) throw new Error('nobody takes over');
  next.succeed(content);
  expect(await Promise.all(others)).toContain(content);
});

test('who no longer wants it waits no longer', async () => {
  const fetches = new SharedFetches();
  await begun(fetches);
  const gone = new AbortController();
  const other = fetches.join(key, gone.signal);
  gone.abort(new Error('deleted'));
  await expect(other).rejects.toThrow('deleted');
});

test('another key, and what has no key, is not shared', async () => {
  const fetches = new SharedFetches();
  await begun(fetches);
  await begun(fetches, 'another');
  await begun(fetches, undefined);
  await begun(fetches, undefined);
});
