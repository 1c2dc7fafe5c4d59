import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gunzip, zstdDecompress } from 'node:zlib';
import xz from 'xz-decompress';
import { type LayerFiles, readArchive } from './layer.ts';

export interface DebianPackage {
  /** In dpkg's format: `Package: libc6`, `Version: …`. */
  readonly control: string;
  readonly files: LayerFiles;
}

const magic = '!<arch>\n';
const headerSize = 60;

/**
 * Reads a .deb (deb(5)): an ar archive of a control archive and a data archive.
 * @throws Error for another file.
 */
export async function readDebianPackage(bytes: Uint8Array): Promise<DebianPackage> {
  const members = readAr(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const control = (await archiveOf(members, 'control')).get('control')?.content;
  if (control === undefined) throw new Error('the Debian package has no control file');
  const files = await archiveOf(members, 'data');
  return { control: Buffer.from(control).toString('utf8'), files };
}

function readAr(bytes: Buffer): ReadonlyMap<string, Buffer> {
  if (bytes.toString('latin1', 0, magic.length) !== magic) {
    throw new Error('the file is not a Debian package: it does not begin as an ar archive');
  }
  const members = new Map<string, Buffer>();
  for (let offset = magic.length; offset + headerSize <= bytes.byteLength; ) {
    const header = bytes.toString('latin1', offset, offset + headerSize);
    const name = header.slice(0, 16).trim().replace(/\/$/, '');
    const size = Number(header.slice(48, 58).trim());
    const start = offset + headerSize;
    if (!Number.isInteger(size) || start + size > bytes.byteLength) {
      throw new Error(`the Debian package is cut off in its member "${name}"`);
    }
    members.set(name, bytes.subarray(start, start + size));
    // Members start at even offsets.
    offset = start + size + (size % 2);
  }
  return members;
}

async function archiveOf(members: ReadonlyMap<string, Buffer>, kind: string): Promise<LayerFiles> {
  const found = [...members].find(([name]) => name.startsWith(`${kind}.tar`));
  if (found === undefined) throw new Error(`the Debian package has no ${kind}.tar`);
  const [name, bytes] = found;
  return await readArchive(await decompressed(bytes, name.slice(`${kind}.tar`.length)));
}

async function decompressed(bytes: Buffer, suffix: string): Promise<Uint8Array> {
  switch (suffix) {
    case '':
      return bytes;
    case '.gz':
      return await promisify(gunzip)(bytes);
    case '.zst':
      return await promisify(zstdDecompress)(bytes);
    case '.xz':
      return await buffer(new xz.XzReadableStream(new Blob([new Uint8Array(bytes)]).stream()));
    default:
      throw new Error(`the Debian package is compressed as "${suffix}", which is not known here`);
  }
}
