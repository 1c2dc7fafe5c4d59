import { beforeEach, describe, expect, test } from 'vitest';
import { MemoryStore } from '../../test/helpers/memory-store.ts';
import { aTree } from '../../test/helpers/registry-bundle.ts';
import { aStoredBundle } from '../../test/helpers/stored-objects.ts';
import type { ContentLoader } from '../bundle-deployment/dependencies.ts';
import { defaultLimits } from '../content/limits.ts';
import { TerminalError, WaitingError } from '../errors.ts';
import { createContentLoader } from './content.ts';

const { signal } = new AbortController();
const files = aTree({ 'manifests/a.yaml': 'a' });

let store: MemoryStore;
let lost: string[];
let loader: ContentLoader;

beforeEach(() => {
  store = new MemoryStore();
  lost = [];
  loader = createContentLoader(
    {
      stores: [store],
      ownClasses: new Map([['plain', { className: 'plain', bundle: async (files) => files }]]),
      onLost: (name) => lost.push(name),
    },
    {
      limits: defaultLimits,
      content: { contentServers: ['https://content.example'], caFile: undefined },
    },
  );
});

describe('content of a class of this process', () => {
  test('is what the store has', async () => {
    await store.put({ name: 'demo', uid: 'uid-of-demo' }, files);
    expect(await loader.load(aStoredBundle(), signal)).toBe(files);
    expect(lost).toEqual([]);
  });

  test('that is lost is fetched again, and asked of nobody else', async () => {
    await store.put({ name: 'demo', uid: 'of-a-namesake' }, files);
    const status = { contentURL: 'https://content.example/bundles/demo.tgz' };
    await expect(loader.load(aStoredBundle({ status }), signal)).rejects.toThrow(
      new WaitingError('the content of Bundle "demo" is lost and being fetched again'),
    );
    expect(lost).toEqual(['demo']);
  });
});

describe('content of a class of another process', () => {
  test('is what the store has, else what its content server has', async () => {
    const bundle = aStoredBundle({ className: 'acme' });
    await expect(loader.load(bundle, signal)).rejects.toThrow('status.contentURL is not set');
    await store.put({ name: 'demo', uid: 'uid-of-demo' }, files);
    expect(await loader.load(bundle, signal)).toBe(files);
    expect(lost).toEqual([]);
  });

  test('is asked of configured servers only: they get our token', async () => {
    const status = { contentURL: 'https://evil.example/bundles/demo.tgz' };
    const bundle = aStoredBundle({ className: 'acme', status });
    await expect(loader.load(bundle, signal)).rejects.toBeInstanceOf(TerminalError);
  });
});
