import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { JsonObject } from '../../api/json.ts';
import { reading } from '../../test/helpers/random-catalog.ts';
import { blobOfValue } from '../blobs/index.ts';
import { buildContent } from './build-content.ts';

const { signal } = new AbortController();
let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'build-content-'));
});
afterEach(async () => {
  await rm(dir, { recursive: true, force: true });
});

/** A package whose channels have all of its bundles. */
function packageOf(bundles: number, channels: number): readonly JsonObject[] {
  const name = 'large';
  const versions = Array.from({ length: bundles }, (_, index) => `1.${index}.0`);
  const entries = versions.map((version, index) => ({
    name: `${name}.v${version}`,
    ...(index > 0 && { replaces: `${name}.v${versions[index - 1]}`, skipRange: `<${version}` }),
  }));
  const metadata = { displayName: 'Large', description: 'word '.repeat(1000) };
  return [
    { schema: 'olm.package', name, defaultChannel: 'c0' },
    ...Array.from({ length: channels }, (_, index) => ({
      schema: 'olm.channel',
      package: name,
      name: `c${index}`,
      entries,
    })),
    ...versions.map((version) => ({
      schema: 'olm.bundle',
      package: name,
      name: `${name}.v${version}`,
      image: `quay.io/large:${version}`,
      properties: [
        { type: 'olm.package', value: { packageName: name, version } },
        { type: 'olm.csv.metadata', value: metadata },
      ],
    })),
  ];
}

/** Milliseconds of processor time of the longest turn of the event loop meanwhile. */
async function longestTurn(work: Promise<void>): Promise<number> {
  let [longest, before] = [0, process.threadCpuUsage()];
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(before);
    longest = Math.max(longest, (user + system) / 1000);
    before = process.threadCpuUsage();
  };
  const timer = setInterval(look, 1);
  await work.finally(() => clearInterval(timer));
  look();
  return longest;
}

test('no turn of the event loop is long while a package of 2,000 bundles is built', async () => {
  const blobs = packageOf(2000, 5).map((value) => blobOfValue(value));
  const longest = await longestTurn(buildContent(dir, reading(blobs)(), { signal }));
  expect(longest).toBeLessThan(80);
});
