import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { receiveUpload, UploadRefusal } from './receive-upload.ts';
import { UploadPlace } from './upload-places.ts';

const clock = new ManualClock();
const place = new UploadPlace('alice', clock, () => undefined);
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'receive-upload-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

async function* bodyOf(...parts: readonly (string | Error)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    if (part instanceof Error) throw part;
    yield Buffer.from(part);
  }
}

test('a body becomes a file with its size and digest', async () => {
  const received = await receiveUpload(bodyOf('by', 'tes'), {
    directory,
    maxBytes: 5,
    clock,
    place,
  });
  expect(received).toMatchObject({
    size: 5,
    digest: '277089d91c0bdf4f2e6862ba7e4a07605119431f5d13f726dd352b06f1b206a9',
  });
  expect(await readFile(received.path, 'utf8')).toBe('bytes');
});

test('a body that cannot be read is 500, and leaves nothing', async () => {
  const broken = receiveUpload(bodyOf('half', new Error('unexpected EOF')), {
    directory,
    maxBytes: 5,
    clock,
    place,
  });
  await expect(broken).rejects.toEqual(new UploadRefusal(500, 'read request body: unexpected EOF'));
  await expect(broken).rejects.toMatchObject({ status: 500 });
  expect(await readdir(directory)).toEqual([]);
});

test('a disk that does not take it is 500', async () => {
  const nowhere = join(directory, 'none');
  await expect(
    receiveUpload(bodyOf('bytes'), { directory: nowhere, maxBytes: 5, clock, place }),
  ).rejects.toMatchObject({
    status: 500,
    message: expect.stringMatching(/^failed to store bundle data: ENOENT: /),
  });
});
