import { createHash } from 'node:crypto';

const signature = Buffer.from([0xff, 0x74, 0x4f, 0x63, 0, 0, 0, 2]);

/** A version 2 index (gitformat-pack) of where each id's object begins. */
export function writeIndex(starts: ReadonlyMap<string, number>, packChecksum: Uint8Array): Buffer {
  const ids = [...starts.keys()].sort();
  const offsets = Buffer.alloc(ids.length * 4);
  for (const [index, id] of ids.entries()) offsets.writeUInt32BE(starts.get(id) ?? 0, index * 4);
  const body = Buffer.concat([
    signature,
    fanout(ids),
    Buffer.from(ids.join(''), 'hex'),
    // Checksums of the packed objects, for copying them to other packs: nobody does here.
    Buffer.alloc(ids.length * 4),
    offsets,
    packChecksum,
  ]);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

/** For each first byte how many ids have it, or a lower one. */
function fanout(ids: readonly string[]): Buffer {
  const counts = new Uint32Array(256);
  for (const id of ids) {
    const byte = Number.parseInt(id.slice(0, 2), 16);
    counts[byte] = (counts[byte] ?? 0) + 1;
  }
  const table = Buffer.alloc(counts.length * 4);
  let sum = 0;
  for (const [byte, count] of counts.entries()) {
    sum += count;
    table.writeUInt32BE(sum, byte * 4);
  }
  return table;
}
