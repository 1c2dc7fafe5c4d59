import { TerminalError } from '../../errors.ts';

const maxLines = 10_000;
const maxBytes = 8 * 1024 * 1024;

/** Messages that come late, after their call was given up. */
const maxStray = 1_000;

/** JSON values in messages with long numbers. */
const maxValues = 5_000_000;

/** What one call may write to the log, and what may come without a call: the manager reads it all. */
export class OutputAllowance {
  #lines = 0;
  #bytes = 0;
  #stray = 0;
  #values = 0;

  /** For another call. */
  renew(): void {
    this.#lines = 0;
    this.#bytes = 0;
    this.#stray = 0;
    this.#values = 0;
  }

  /** @throws TerminalError where it is too much. */
  write(bytes: number, callee: string): void {
    this.#lines += 1;
    this.#bytes += bytes;
    if (this.#lines <= maxLines && this.#bytes <= maxBytes) return;
    throw new TerminalError(
      `${callee} wrote more than ${maxLines} lines or ${maxBytes / 1024 / 1024} MiB to the log in one call: have it write less`,
    );
  }

  /** @throws Error where it is too much. */
  values(count: number): void {
    this.#values += count;
    if (this.#values <= maxValues) return;
    throw new Error(`it has long numbers among more than ${maxValues} values in one call`);
  }

  /** @throws Error where it is too much. */
  stray(): void {
    this.#stray += 1;
    if (this.#stray > maxStray) throw new Error('it does not stop to send what nobody asked for');
  }
}
