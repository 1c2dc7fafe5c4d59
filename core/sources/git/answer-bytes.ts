import { TerminalError } from '../../errors.ts';

/** Bounds what a server sends in all its answers together, and keeps what ended one early. */
export class AnswerBytes {
  readonly #max: number;
  #count = 0;
  #failure: Error | undefined;

  constructor(max: number) {
    this.#max = max;
  }

  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Keeps the first failure, and returns it. */
  fail(error: unknown): Error {
    this.#failure ??= error instanceof Error ? error : new Error(String(error));
    return this.#failure;
  }

  /** The same bytes; `explain` words the errors of the stream. */
  async *bounded(
    body: AsyncIterable<Uint8Array>,
    explain: (error: unknown) => unknown,
  ): AsyncIterableIterator<Uint8Array> {
    try {
      for await (const chunk of body) {
        this.#count += chunk.byteLength;
        if (this.#count > this.#max) throw tooLarge(this.#max);
        yield chunk;
      }
    } catch (error) {
      throw this.fail(error instanceof TerminalError ? error : explain(error));
    }
  }
}

function tooLarge(limit: number): TerminalError {
  return new TerminalError(
    `the repository sends more than the limit of ${limit} bytes (--max-content-bytes)`,
  );
}
