import type { Socket } from 'node:net';
import type { BundleFiles } from '../../../contracts/bundle-files.ts';

export interface FrameSocketOptions {
  /** Receives each frame; the buffers are the receiver's to keep. */
  readonly onFrame: (head: Buffer, body: Buffer) => void;
  /** Called once, for a frame above the limit; nothing is read after it. */
  readonly onOversize: (bytes: number) => void;
  /** Maximum bytes of one frame. */
  readonly maxBytes: number;
}

/** Lengths of head and body. */
const prefixBytes = 8;

const noBytes = new Uint8Array();

/**
 * Frames over a socket between two processes. Node's own channel would load any message into
 * memory, however large, before anyone could refuse it.
 */
export class FrameSocket {
  readonly #socket: Socket;
  readonly #options: FrameSocketOptions;
  #chunks: Buffer[] = [];
  #buffered = 0;
  /** Lengths of the incoming frame. */
  #lengths: { readonly head: number; readonly body: number } | undefined;

  constructor(socket: Socket, options: FrameSocketOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    // The exit of the other process reports that it has gone.
    socket.on('error', () => undefined);
  }

  /** Resolves when the frame is sent, or the other side has gone. */
  send(head: Uint8Array, body: readonly Uint8Array[] = []): Promise<void> {
    return new Promise((resolve) => {
      if (!this.#socket.writable) return resolve();
      const prefix = Buffer.alloc(prefixBytes);
      prefix.writeUInt32LE(head.byteLength, 0);
      prefix.writeUInt32LE(
        body.reduce((sum, part) => sum + part.byteLength, 0),
        4,
      );
      this.#socket.cork();
      for (const part of [prefix, head, ...body.slice(0, -1)]) this.#socket.write(part);
      this.#socket.write(body.at(-1) ?? noBytes, () => resolve());
      this.#socket.uncork();
    });
  }

  #read(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#buffered += chunk.byteLength;
    while (this.#readOne());
  }

  /** Reads a frame or its start; false when it needs more bytes. */
  #readOne(): boolean {
    if (this.#lengths === undefined) {
      if (this.#buffered < prefixBytes) return false;
      const prefix = this.#take(prefixBytes);
      this.#lengths = { head: prefix.readUInt32LE(0), body: prefix.readUInt32LE(4) };
    }
    const { head, body } = this.#lengths;
    if (head + body > this.#options.maxBytes) return this.#refuse(head + body);
    if (this.#buffered < head + body) return false;
    const bytes = this.#take(head + body);
    this.#lengths = undefined;
    this.#options.onFrame(bytes.subarray(0, head), bytes.subarray(head));
    return true;
  }

  #refuse(bytes: number): boolean {
    this.#socket.removeAllListeners('data').pause();
    this.#chunks = [];
    this.#buffered = 0;
    this.#options.onOversize(bytes);
    return false;
  }

  #take(bytes: number): Buffer {
    const all = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks);
    const whole = all ?? Buffer.alloc(0);
    this.#chunks = whole.byteLength === bytes ? [] : [whole.subarray(bytes)];
    this.#buffered -= bytes;
    return whole.subarray(0, bytes);
  }
}

/** The paths and sizes of a bundle, without content. */
export interface FileTable {
  readonly paths: readonly string[];
  /** Bytes, in the order of the paths. */
  readonly sizes: readonly number[];
  readonly directories: readonly string[];
}

/** For calls without content. */
export const noFiles: BundleFiles = { files: new Map(), directories: new Set() };

/** Large enough to be fast, small enough to send and read in a millisecond or two. */
export const pieceBytes = 512 * 1024;

export function fileTable({ files, directories }: BundleFiles): FileTable {
  return {
    paths: [...files.keys()],
    sizes: Array.from(files.values(), (content) => content.byteLength),
    directories: [...directories],
  };
}

/** Entries per message: even with paths of maximum length it stays below the frame limit. */
const tableEntries = 500;

/** The table in pieces, at least one. */
export function* tablePieces({ paths, sizes, directories }: FileTable): Generator<FileTable> {
  const entries = Math.max(paths.length, directories.length, 1);
  for (let start = 0; start < entries; start += tableEntries) {
    const end = start + tableEntries;
    yield {
      paths: paths.slice(start, end),
      sizes: sizes.slice(start, end),
      directories: directories.slice(start, end),
    };
  }
}

/**
 * The contents of all files, in order, as views without copies; each piece has up to `pieceBytes`.
 */
export function* contentPieces({ files }: BundleFiles): Generator<readonly Uint8Array[]> {
  let parts: Uint8Array[] = [];
  let room = pieceBytes;
  for (const content of files.values()) {
    for (let start = 0; start < content.byteLength; ) {
      const part = content.subarray(start, start + room);
      parts.push(part);
      start += part.byteLength;
      room -= part.byteLength;
      if (room > 0) continue;
      yield parts;
      parts = [];
      room = pieceBytes;
    }
  }
  if (parts.length > 0) yield parts;
}

/** Reassembles a bundle's files from their table and the pieces of their content. */
export class ContentCollector {
  readonly #table: FileTable;
  readonly #content: Uint8Array;
  #received = 0;

  constructor(table: FileTable) {
    this.#table = table;
    this.#content = new Uint8Array(table.sizes.reduce((sum, size) => sum + size, 0));
  }

  get complete(): boolean {
    return this.#received === this.#content.byteLength;
  }

  /** @throws RangeError for more bytes than the table lists. */
  add(part: Uint8Array): void {
    this.#content.set(part, this.#received);
    this.#received += part.byteLength;
  }

  /** Views of one common buffer. */
  files(): BundleFiles {
    const files = new Map<string, Uint8Array>();
    let end = 0;
    for (const [index, path] of this.#table.paths.entries()) {
      const start = end;
      end += this.#table.sizes[index] ?? 0;
      files.set(path, this.#content.subarray(start, end));
    }
    return { files, directories: new Set(this.#table.directories) };
  }
}
