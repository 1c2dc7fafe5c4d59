import { afterEach, expect, it } from 'vitest';
import { ampleMemory } from '../../test/helpers/ample-memory.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import type { Source } from '../contracts/source.ts';
import { type OpenSources, openSources } from './sources.ts';

let open: OpenSources | undefined;

afterEach(async () => {
  await open?.close();
});

function aSource(type: string): Source {
  return {
    type,
    pin: 'immutable',
    host: () => undefined,
    shareable: false,
    fetch: async () => {
      throw new Error('nobody fetches');
    },
  };
}

async function typesWith(sources: readonly Source[]): Promise<readonly string[]> {
  open = await openSources({ sources, workers: 1, memory: ampleMemory(), logger: silentLogger });
  return open.sources.map(({ type }) => type);
}

it('are core’s, and those that are given besides', async () => {
  expect(await typesWith([])).toEqual(['image', 'git', 'http', 'configMaps']);
  expect(await typesWith([aSource('acme')])).toContain('acme');
});

it('are those that are given where core has some of their types', async () => {
  const git = aSource('git');
  expect(await typesWith([git])).toEqual(['image', 'http', 'configMaps', 'git']);
  expect(open?.sources.at(-1)).toBe(git);
});

it('are refused where they do not say how their content is pinned', async () => {
  const { pin: _, ...unpinned } = aSource('acme');
  await expect(typesWith([unpinned as Source])).rejects.toThrow(
    'source type "acme" does not define pin, host and shareable: make it with defineSource (docs/howto/write-a-source.md)',
  );
});
