import { expect, test, vi } from 'vitest';
import { anImage } from '../../test/helpers/objects.ts';
import { aTree } from '../../test/helpers/registry-bundle.ts';
import { type FetchedContent, OwnFetch, SharedFetches } from './shared-fetches.ts';

const source = anImage('example.com/app:v1');
const memory = { retain: vi.fn(), release: vi.fn() };
const content: FetchedContent = { files: aTree({}), resolvedSource: source, memory };
const { signal } = new AbortController();

async function begun(fetches: SharedFetches, wanted = source): Promise<OwnFetch> {
  const own = await fetches.join(wanted, signal);
  if (own instanceof OwnFetch) return own;
  throw new Error('somebody else fetches');
}

test('who comes during a fetch gets its content, who comes later fetches again', async () => {
  const fetches = new SharedFetches();
  const own = await begun(fetches);
  const others = [fetches.join(source, signal), fetches.join({ ...source }, signal)];
  own.succeed(content);
  own.giveUp();
  expect(await Promise.all(others)).toEqual([content, content]);
  expect(memory.retain).toHaveBeenCalledTimes(2);
  await begun(fetches);
});

test('a failure is everybody’s', async () => {
  const fetches = new SharedFetches();
  const own = await begun(fetches);
  const other = fetches.join(source, signal);
  own.fail(new Error('denied'));
  await expect(other).rejects.toThrow('denied');
});

test('when a fetch is given up, one of those who wait takes over', async () => {
  const fetches = new SharedFetches();
  const own = await begun(fetches);
  const others = [fetches.join(source, signal), fetches.join(source, signal)];
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
  const other = fetches.join(source, gone.signal);
  gone.abort(new Error('deleted'));
  await expect(other).rejects.toThrow('deleted');
});

test('another reference, another secret and sources without an address are not shared', async () => {
  const fetches = new SharedFetches();
  await begun(fetches);
  await begun(fetches, anImage('example.com/app:v2'));
  await begun(fetches, { type: 'image', image: { ref: 'example.com/app:v1', pullSecret: 's' } });
  await begun(fetches, { type: 'upload', upload: {} });
  await begun(fetches, { type: 'upload', upload: {} });
});
