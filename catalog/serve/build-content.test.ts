import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { JsonObject } from '../../api/json.ts';
import { Turns } from '../../core/platform/turns.ts';
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

test('others have a turn at each blob and each channel of one large package', {
  tags: ['slow'],
}, async () => {
  const blobs = packageOf(2000, 5).map((value) => blobOfValue(value));
  let now = 0;
  // Every piece of work takes as long as a turn may.
  vi.spyOn(performance, 'now').mockImplementation(() => (now += 10));
  const give = vi.spyOn(Turns.prototype, 'give');
  onTestFinished(() => void vi.restoreAllMocks());
  await buildContent(dir, reading(blobs)(), { signal });
  expect(give.mock.calls.length).toBeGreaterThanOrEqual(blobs.length + 5);
});
