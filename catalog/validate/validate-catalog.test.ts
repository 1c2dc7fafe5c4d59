import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { JsonObject } from '../../api/json.ts';
import { blobOfValue } from '../blobs/index.ts';
import { validateCatalog } from './index.ts';

interface Row {
  readonly row: string;
  readonly blobs: readonly JsonObject[];
  /** What opm v1.73.0 says; empty where it says nothing. */
  readonly text: string;
}

const rows = JSON.parse(
  readFileSync(new URL('opm-texts.json', import.meta.url), 'utf8'),
) as readonly Row[];

it.each(rows)('$row', async ({ blobs, text }) => {
  await expect(said(blobs)).resolves.toBe(text);
});

it('follows a chain of 100,000 entries, and a cycle of that length', {
  tags: ['slow'],
}, async () => {
  const names = Array.from({ length: 100_000 }, (_, index) => `a.v${index}`);
  const chain = names.map((name, index) => ({ name, replaces: names[index + 1] ?? '' }));
  const channel = { schema: 'olm.channel', package: 'a', name: 'stable' };
  const packageBlob = { schema: 'olm.package', name: 'a', defaultChannel: 'stable' };
  const text = await said([packageBlob, { ...channel, entries: chain }]);
  expect(text).toMatch(/^no olm\.bundle blobs found in package "a"/);
  const cycle = [...chain.slice(0, -1), { name: 'a.v99999', replaces: 'a.v1' }];
  const other = { ...channel, name: 'stable', entries: cycle };
  const last = { ...channel, name: 'last', entries: [] };
  expect(await said([packageBlob, other, last])).toContain(
    'detected cycle in replaces chain of upgrade graph: a.v1 -> a.v2 -> ',
  );
});

it('says what is wrong with names and images of any length', async () => {
  const long = 'a.'.repeat(8_000_000);
  const packageBlob = { schema: 'olm.package', name: 'a', defaultChannel: 'stable' };
  const channel = { schema: 'olm.channel', package: 'a', name: 'stable', entries: [{ name: 'b' }] };
  const property = { type: 'olm.package', value: { packageName: 'a', version: '1.0.0' } };
  const bundle = { schema: 'olm.bundle', package: 'a', name: 'b', properties: [property] };
  const image = await said([packageBlob, channel, { ...bundle, image: long }]);
  expect(image.slice(-80)).toMatch(/: invalid reference format$/);
  const named = await said([{ ...packageBlob, name: long }]);
  expect(named).toContain('[must be no more than 63 characters a lowercase RFC 1123 label must');
});

async function said(values: readonly JsonObject[]): Promise<string> {
  const blobs = async function* () {
    for (const value of values) yield await Promise.resolve(blobOfValue(value));
  };
  return await validateCatalog(blobs()).then(
    () => '',
    (error: unknown) => (error as Error).message,
  );
}
