import { Header, Pax } from 'tar';

export interface WrittenEntry {
  readonly path: string;
  /** A directory where absent. */
  readonly content?: Uint8Array | undefined;
}

const blockSize = 512;
/** Equal content makes equal archives. */
const modified = new Date(0);

/** An uncompressed tar of files and directories in the order in which they are given. */
export function* tarParts(entries: Iterable<WrittenEntry>): Generator<Uint8Array> {
  for (const { path, content } of entries) {
    yield* entryHeader(path, content);
    if (content === undefined) continue;
    yield content;
    yield new Uint8Array((blockSize - (content.byteLength % blockSize)) % blockSize);
  }
  yield new Uint8Array(2 * blockSize);
}

function* entryHeader(path: string, content: Uint8Array | undefined): Generator<Uint8Array> {
  const isDirectory = content === undefined;
  const header = new Header({
    path,
    type: isDirectory ? 'Directory' : 'File',
    size: content?.byteLength ?? 0,
    mode: isDirectory ? 0o755 : 0o644,
    uid: 0,
    gid: 0,
    uname: '',
    gname: '',
    mtime: modified,
    linkpath: '',
  });
  const block = Buffer.alloc(blockSize);
  if (header.encode(block)) yield new Pax({ path }).encode();
  yield block;
}
