import type { ServedContent } from './served-content.ts';

/** A catalog under its name, whose content can be replaced while requests read the former one. */
export class ServedCatalog {
  readonly name: string;
  #content: SharedContent;

  constructor(name: string, content: ServedContent) {
    this.name = name;
    this.#content = new SharedContent(content);
  }

  /** The content of now, kept open until the caller disposes of it. */
  borrow(): BorrowedContent {
    return this.#content.borrow();
  }

  /** Later requests get the new content; the former one is closed when the last of its readers is done. */
  async replace(content: ServedContent): Promise<void> {
    const former = this.#content;
    this.#content = new SharedContent(content);
    await former.retire();
  }

  /** Closes the content when its last reader is done; nothing may be borrowed any more. */
  async close(): Promise<void> {
    await this.#content.retire();
  }
}

export interface BorrowedContent extends AsyncDisposable {
  readonly content: ServedContent;
}

class SharedContent {
  readonly #content: ServedContent;
  #readers = 0;
  #isRetired = false;

  constructor(content: ServedContent) {
    this.#content = content;
  }

  borrow(): BorrowedContent {
    this.#readers += 1;
    return { content: this.#content, [Symbol.asyncDispose]: () => this.#return() };
  }

  async retire(): Promise<void> {
    this.#isRetired = true;
    if (this.#readers === 0) await this.#content[Symbol.asyncDispose]();
  }

  async #return(): Promise<void> {
    this.#readers -= 1;
    if (this.#isRetired && this.#readers === 0) await this.#content[Symbol.asyncDispose]();
  }
}
