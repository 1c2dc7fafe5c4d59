import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unpackFetched } from '../../../../core/content/index.ts';
import { TerminalError } from '../../../../core/errors.ts';
import { systemClock } from '../../../../core/platform/clock.ts';
import { receiveUpload, UploadRefusal } from '../../../../core/store/uploads/receive-upload.ts';
import { UploadPlace } from '../../../../core/store/uploads/upload-places.ts';
import { type FuzzTarget, streamOf, Violation } from '../../fuzz-target.ts';
import { expectTree, limits, sampleGzips } from './content.ts';

const maxBytes = 20_000;
const prefixes = { gzip: 'read upload: ', tar: 'unpack upload: ' };

/** Bodies of uploads: written whole or not at all, into one folder, then unpacked. */
export const uploads: FuzzTarget = {
  name: 'uploads',
  seeds: sampleGzips,
  refusals: [TerminalError, UploadRefusal],
  async read(input, signal) {
    const directory = await mkdtemp(join(tmpdir(), 'rukpak-fuzz-upload-'));
    try {
      await receive(input, directory);
      expectTree(await unpackFetched(streamOf(input), { limits, signal, prefixes }));
    } finally {
      await rm(directory, { recursive: true });
    }
  },
};

async function receive(input: Uint8Array, directory: string): Promise<void> {
  let upload: Awaited<ReturnType<typeof receiveUpload>>;
  try {
    const place = new UploadPlace('', systemClock, () => undefined);
    const options = { directory, maxBytes, clock: systemClock, place };
    upload = await receiveUpload(streamOf(input), options);
  } catch (error) {
    if ((await readdir(directory)).length > 0) throw new Violation('leaves a part of an upload');
    throw error;
  }
  if ((await readdir(directory)).length !== 1) throw new Violation('writes other files');
  if (!(await readFile(upload.path)).equals(input)) throw new Violation('writes other bytes');
}
