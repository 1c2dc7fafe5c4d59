import type { Socket } from 'node:net';

export interface FrameSocketOptions {
  /** What comes with one frame; views that are the receiver's to keep. */
  readonly onFrame: (head: Buffer, body: Buffer) => void;
  /** Called once, with a larger frame than may come; nothing is read after it. */
  readonly onOversize: (bytes: number) => void;
  /** Of one frame. */
  readonly maxBytes: number;
}

/** Lengths of head and body. */
const prefixBytes = 8;

const noBytes = new Uint8Array();

/**
 * Frames over a socket between two processes. Node's own channel would hold any message, however
 * large, in memory before anyone could refuse it.
 */
export class FrameSocket {
  readonly #socket: Socket;
  readonly #options: FrameSocketOptions;
  #chunks: Buffer[] = [];
  #buffered = 0;
  /** Of the frame that is coming in. */
  #lengths: { readonly head: number; readonly body: number } | undefined;

  constructor(socket: Socket, options: FrameSocketOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    // Whoever has gone says so by its exit.
    socket.on('error', () => undefined);
  }

  /** Resolves when the frame is on its way, or the other side has gone. */
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

  /** Whether there was a whole frame, or the beginning of one. */
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
