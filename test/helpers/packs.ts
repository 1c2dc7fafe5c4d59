import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';

const types = { commit: 1, tree: 2, blob: 3, tag: 4, offsetDelta: 6, referenceDelta: 7 } as const;

export interface PackedObject {
  readonly type: keyof typeof types;
  /** What stands between header and data: of a delta, how its base is named. */
  readonly base?: Uint8Array;
  readonly content: Uint8Array;
  /** As declared (default: the content's own). */
  readonly size?: number;
}

/** A packfile of any objects, good or bad, with the checksum that it should have. */
export function aPack(objects: readonly PackedObject[], count = objects.length): Buffer {
  const header = Buffer.alloc(12);
  header.write('PACK');
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(count, 8);
  const body = Buffer.concat([header, ...objects.map(packed)]);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

/** As it stands in a pack. */
export function packed(object: PackedObject): Buffer {
  const { type, content, base = new Uint8Array(), size = content.byteLength } = object;
  const header = [(types[type] << 4) | (size & 15)];
  for (let left = Math.floor(size / 16); left > 0; left = Math.floor(left / 128)) {
    header[header.length - 1] = (header.at(-1) ?? 0) | 128;
    header.push(left & 127);
  }
  return Buffer.concat([Buffer.from(header), base, deflateSync(content)]);
}

export function objectId(type: 'commit' | 'tree' | 'blob', content: Uint8Array): string {
  const header = `${type} ${content.byteLength}\0`;
  return createHash('sha1').update(header).update(content).digest('hex');
}

/** A commit of a tree with one file per blob, `<index>.bin`; all three are to be in the pack. */
export function aCommitOf(blobs: readonly string[]): {
  readonly tree: Buffer;
  readonly commit: Buffer;
  readonly id: string;
} {
  const entries = blobs.map((id, index) => {
    return Buffer.concat([Buffer.from(`100644 ${index}.bin\0`), Buffer.from(id, 'hex')]);
  });
  const tree = Buffer.concat(entries);
  const by = 'a <a@example.com> 1700000000 +0000';
  const text = `tree ${objectId('tree', tree)}\nauthor ${by}\ncommitter ${by}\n\none\n`;
  const commit = Buffer.from(text);
  return { tree, commit, id: objectId('commit', commit) };
}

/** A delta that copies all of its base, in steps, and adds some bytes of its own. */
export function aDelta(baseSize: number, added: Uint8Array = new Uint8Array()): Buffer {
  const parts = [variableSize(baseSize), variableSize(baseSize + added.byteLength)];
  for (let at = 0; at < baseSize; at += 0xffffff) parts.push(copy(at, baseSize - at));
  for (let at = 0; at < added.byteLength; at += 127) {
    const piece = added.subarray(at, at + 127);
    parts.push(Buffer.from([piece.byteLength]), Buffer.from(piece));
  }
  return Buffer.concat(parts);
}

function copy(offset: number, left: number): Buffer {
  const instruction = Buffer.alloc(8);
  instruction[0] = 0xff;
  instruction.writeUInt32LE(offset, 1);
  instruction.writeUIntLE(Math.min(left, 0xffffff), 5, 3);
  return instruction;
}

/** How an offset delta says how far before it its base begins. */
export function distance(bytes: number): Buffer {
  const result = [bytes & 127];
  for (let left = (bytes >> 7) - 1; left >= 0; left = (left >> 7) - 1) {
    result.unshift((left & 127) | 128);
  }
  return Buffer.from(result);
}

export function variableSize(size: number): Buffer {
  const result: number[] = [];
  for (let left = size; ; left = Math.floor(left / 128)) {
    if (left < 128) return Buffer.from([...result, left]);
    result.push((left & 127) | 128);
  }
}

/** A pack with one blob, and a chain of deltas on it; a tree names the last alone. */
export function aChain(options: {
  readonly base: Uint8Array;
  readonly deltas: number;
  readonly named: 'by offset' | 'by id';
}): { readonly pack: Buffer; readonly commit: string } {
  const objects: PackedObject[] = [{ type: 'blob', content: options.base }];
  let content = Buffer.from(options.base);
  let id = objectId('blob', content);
  for (let index = 0; index < options.deltas; index += 1) {
    const added = Buffer.from([index % 256]);
    const delta = aDelta(content.byteLength, added);
    const before = objects.at(-1);
    const back = before === undefined ? 0 : packed(before).byteLength;
    objects.push(
      options.named === 'by offset'
        ? { type: 'offsetDelta', base: distance(back), content: delta }
        : { type: 'referenceDelta', base: Buffer.from(id, 'hex'), content: delta },
    );
    content = Buffer.concat([content, added]);
    id = objectId('blob', content);
  }
  const { tree, commit, id: commitId } = aCommitOf([id]);
  objects.push({ type: 'tree', content: tree }, { type: 'commit', content: commit });
  return { pack: aPack(objects), commit: commitId };
}
