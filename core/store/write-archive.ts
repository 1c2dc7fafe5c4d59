import { createHash, type Hash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { ByteStream } from '../content/index.ts';
import { stampBytes, stamped, stampOffset } from './archive-stamp.ts';

const unknownDigest = '0'.repeat(64);

/** Writes a Bundle's archive with its stamp to a new file, synced to disk. */
export async function writeArchive(path: string, gzip: ByteStream, uid: string): Promise<void> {
  const file = await open(path, 'wx');
  try {
    const hash = createHash('sha256').update(uid);
    const archive = stamped(hashed(gzip, hash), { uid, digest: unknownDigest });
    await file.writeFile(archive);
    // The digest is known at the end, and stands at the beginning.
    await file.write(stampBytes({ uid, digest: hash.digest('hex') }), 0, undefined, stampOffset);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function* hashed(stream: ByteStream, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of stream) {
    hash.update(chunk);
    yield chunk;
  }
}
