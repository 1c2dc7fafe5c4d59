import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  aCatalog,
  packageBlobs,
  ReconcilerFixture,
  shopTag as tag,
} from '../../../test/helpers/catalog-reconciler-fixture.ts';
import { catalogAdapter } from '../kinds/catalog.ts';
import { CatalogFailure } from '../source/catalog-failure.ts';

let replica: ReconcilerFixture;
let found: string[];
let first: string;

beforeEach(async () => {
  replica = await ReconcilerFixture.start(catalogAdapter);
  found = [];
  replica.served.damaged.onFound(({ name }) => found.push(name));
  first = replica.push(tag, packageBlobs('a'));
  replica.put(aCatalog());
  await replica.reconcile();
  replica.push(tag, packageBlobs('a', '2.0.0'));
});
afterEach(() => replica.stop());

async function damage(content?: string): Promise<void> {
  const [served] = replica.served.places(() => true);
  const directory = content ?? served?.directory ?? '';
  const file = join(directory, 'packages', 'all.jsonl');
  await writeFile(file, Buffer.alloc((await stat(file)).size));
}

async function read(): Promise<'content' | 'problem' | undefined> {
  const [result] = await replica.served.findPackage('a', () => true);
  return result && ('content' in result ? 'content' : 'problem');
}

test.each([true, false])(
  'content that the disk has damaged is fetched again, by its digest (leading: %s)',
  async (isLeading) => {
    replica.isLeading = isLeading;
    expect(await read()).toBe('content');
    await replica.reconcile();
    expect(replica.fetched).toEqual([first]);
    await damage();
    expect([await read(), await read()]).toEqual(['problem', 'problem']);
    await expect.poll(() => found).toEqual(['shop']);
    replica.changes.length = 0;
    await replica.reconcile();
    expect(replica.fetched).toEqual([first, first]);
    // Who could not read the package is told.
    expect(replica.changes).toMatchObject([{ packages: new Set(['a']) }]);
    expect(await read()).toBe('content');
    await replica.reconcile();
    expect([replica.fetched.length, found.length]).toEqual([2, 1]);
  },
);

test('a disk that damages it each time is tried with back-off', async () => {
  await damage();
  await read();
  await expect.poll(() => found).toEqual(['shop']);
  const put = replica.store.put.bind(replica.store);
  replica.store.put = async (...wanted) => {
    const stored = await put(...wanted);
    await damage(stored.content.directory);
    return stored;
  };
  await expect(replica.reconcile()).rejects.toThrow(
    'the disk has damaged the content of the catalog again',
  );
  expect(replica.served.serving()).toMatchObject([{ resolvedRef: first }]);
  replica.store.put = put;
  await replica.reconcile();
  expect(await read()).toBe('content');
});

test('it stays in use until the registry has sent it again, and newer content replaces it too', async () => {
  await damage();
  await read();
  await expect.poll(() => found).toEqual(['shop']);
  replica.fetchFailure = new CatalogFailure('image', 'busy');
  await expect(replica.reconcile()).rejects.toThrow('busy');
  expect(replica.served.serving()).toMatchObject([{ resolvedRef: first }]);
  replica.fetchFailure = undefined;
  const moved = replica.push(tag, packageBlobs('a', '3.0.0'));
  replica.put(replica.changed({ pollInterval: '1m' }, 2));
  await replica.reconcile();
  expect(replica.served.serving()).toMatchObject([{ resolvedRef: moved }]);
  expect(replica.fetched).toEqual([first, first, moved]);
});
