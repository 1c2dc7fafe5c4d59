import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';

/** Number of the input, and its length. */
const headerBytes = 8;

/** Records the present input, for the parent of a dead process. */
export class FlightRecorder implements Disposable {
  readonly #file: number;
  #count = 0;

  constructor(path: string) {
    this.#file = openSync(path, 'w');
  }

  get count(): number {
    return this.#count;
  }

  record(input: Uint8Array): void {
    this.#count += 1;
    const header = Buffer.alloc(headerBytes);
    header.writeUInt32LE(this.#count, 0);
    header.writeUInt32LE(input.byteLength, 4);
    writeSync(this.#file, Buffer.concat([header, input]), 0, undefined, 0);
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}

export interface Flight {
  readonly count: number;
  readonly input: Uint8Array;
}

/** The last input that was recorded; undefined before the first. */
export function readFlight(path: string): Flight | undefined {
  const bytes = readFileSync(path);
  if (bytes.byteLength < headerBytes) return undefined;
  const length = bytes.readUInt32LE(4);
  return { count: bytes.readUInt32LE(0), input: bytes.subarray(headerBytes, headerBytes + length) };
}
