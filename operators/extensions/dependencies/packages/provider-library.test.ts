import { expect, test } from 'vitest';
import type { CatalogContents } from '../../../catalogs/index.ts';
import { ProviderLibrary } from './provider-library.ts';

test('of more answers than it remembers, it forgets the oldest', async () => {
  let reads: string[] = [];
  const contents: Partial<CatalogContents> = {
    packageBytes: () => 0,
    findPackage: async (name) => {
      reads.push(name);
      return [];
    },
  };
  const library = new ProviderLibrary(contents as CatalogContents);
  const ask = async (name: string) => await library.bundle(name, 'example.com/a:v1');
  const names = Array.from({ length: 10_001 }, (_, index) => `package-${index}`);
  for (const name of names) await ask(name);
  reads = [];
  for (const name of ['package-1', 'package-5000', 'package-10000', 'package-0']) await ask(name);
  expect(reads).toEqual(['package-0']);
});
