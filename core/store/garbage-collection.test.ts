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

it('removes the archives of Bundles that are gone, and only those', async () => {
  const store = new FakeStore();
  const removed = await collectGarbage(store, async () => [{ name: 'live' }, { name: 'unstored' }]);
  expect(removed).toEqual(['gone', 'gone-too']);
  expect([...store.archives]).toEqual(['live']);
});

it('leaves alone what is stored while it asks for the live Bundles', async () => {
  const store = new FakeStore();
  await collectGarbage(store, async () => {
    store.archives.add('newborn');
    return [];
  });
  expect([...store.archives]).toEqual(['newborn']);
});
