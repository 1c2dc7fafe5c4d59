import { expect, it } from 'vitest';
import { collectGarbage } from './garbage-collection.ts';

class FakeStore {
  readonly archives = new Set(['live', 'gone', 'gone-too']);
  async names(): Promise<readonly string[]> {
    return [...this.archives];
  }
  async delete(name: string): Promise<void> {
    this.archives.delete(name);
  }
}

function fail(error: unknown): never {
  throw error;
}

it('removes the archives of Bundles that are gone, and only those', async () => {
  const store = new FakeStore();
  await collectGarbage(store, () => ['live', 'unstored'], fail);
  expect([...store.archives]).toEqual(['live']);
});

it('leaves alone what is stored while it asks for the live Bundles', async () => {
  const store = new FakeStore();
  const live = () => {
    store.archives.add('newborn');
    return [];
  };
  await collectGarbage(store, live, fail);
  expect([...store.archives]).toEqual(['newborn']);
});
