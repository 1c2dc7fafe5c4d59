import { afterEach, describe, expect, it } from 'vitest';
import type { BundleSource } from '../../api/v1alpha1/bundle.ts';
import { ampleMemory } from '../../test/helpers/ample-memory.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import { aSourceContext, bundleFiles } from '../../testing/index.ts';
import { defaultLimits } from '../content/index.ts';
import type { Source, SourceResult, SourceServer } from '../contracts/source.ts';
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

/** A source in JavaScript, whose result no compiler has checked. */
function returning(files: unknown): Source {
  const fetch = async (resolvedSource: BundleSource) => ({ files, resolvedSource }) as SourceResult;
  return { ...aSource('acme'), fetch };
}

const spec: BundleSource = { type: 'acme', parameters: {} };

async function fetchWith(source: Source): Promise<SourceResult> {
  await typesWith([source]);
  const context = aSourceContext({ limits: { ...defaultLimits, maxBytes: 3 } });
  const opened = open?.sources.find(({ type }) => type === source.type);
  return await opened!.fetch(spec, context);
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
  await expect(fetchWith(git)).rejects.toThrow('nobody fetches');
});

it('are refused where two are of one type, of which one would never be asked', async () => {
  await expect(typesWith([aSource('acme'), aSource('acme')])).rejects.toThrow(
    'two sources have the type "acme": rename one',
  );
});

it('keep what they are made of: a class with private fields works', async () => {
  class Shelf implements Source {
    readonly #host = 'shelf.example';
    readonly type = 'acme';
    readonly pin = 'immutable';
    readonly shareable = true;
    host(): SourceServer {
      return { protocol: 'https:', hostname: this.#host, port: '' };
    }
    async fetch(resolvedSource: BundleSource): Promise<SourceResult> {
      return { files: bundleFiles({ [this.#host]: 'a' }), resolvedSource };
    }
  }
  const { files } = await fetchWith(new Shelf());
  expect([...files.files.keys()]).toEqual(['shelf.example']);
  expect(open?.sources.at(-1)?.host(spec)?.hostname).toBe('shelf.example');
});

describe('the content of a given source', () => {
  it.each([
    ['nothing', undefined, 'it is not an object'],
    ['no Map', { files: {}, directories: new Set() }, '"files" is not a Map of paths and bytes'],
    [
      'text, of which no size could be counted',
      { files: new Map([['a', 'text']]), directories: new Set() },
      'the content of "a" is not a Uint8Array',
    ],
  ])('is refused where it is %s', async (_, files, problem) => {
    await expect(fetchWith(returning(files))).rejects.toThrow(
      `source type "acme" returned no files: ${problem}`,
    );
  });

  it.each([
    ['outside of the tree', '../a', 'content has a path that leaves the bundle: "../a"'],
    ['above a limit', 'a', 'content is larger than the limit of 3 bytes (--max-content-bytes)'],
  ])('is refused where it is %s', async (_, path, message) => {
    const files = { files: new Map([[path, Buffer.from('1234')]]), directories: new Set() };
    await expect(fetchWith(returning(files))).rejects.toThrow(message);
  });
});

it('are refused where they do not say how their content is pinned', async () => {
  const { pin: _, ...unpinned } = aSource('acme');
  await expect(typesWith([unpinned as Source])).rejects.toThrow(
    'source type "acme" does not define pin, host and shareable: make it with defineSource (docs/howto/write-a-source.md)',
  );
});
