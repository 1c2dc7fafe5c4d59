import type { ContentLimits } from '../../contracts/bundle-files.ts';
import { pieceBytes } from './content-transfer.ts';
import { maxFrameBytes } from './messages.ts';

/** Messages of an answer that has next to nothing in it. */
const fewMessages = 100;

/** More than the longest path takes, of what stands around it in a table of files. */
const entryBytes = 100;

/**
 * What one answer may be at most, whatever it consists of: reading what a process sends without an
 * end would leave the manager no time for anybody else.
 */
export class AnswerAllowance {
  readonly #most: { readonly messages: number; readonly bytes: number };
  #messages = 0;
  #bytes = 0;

  constructor({ maxBytes, maxEntries, maxPathLength }: ContentLimits) {
    this.#most = {
      messages: fewMessages + maxEntries + Math.ceil((2 * maxBytes) / pieceBytes),
      bytes: maxFrameBytes + 2 * maxBytes + maxEntries * (entryBytes + maxPathLength),
    };
  }

  /** @throws Error where it is too much. */
  count(bytes: number): void {
    this.#messages += 1;
    this.#bytes += bytes;
    if (this.#messages > this.#most.messages) throw new Error('it has too many messages');
    if (this.#bytes > this.#most.bytes) throw new Error('it is too large');
  }
}
