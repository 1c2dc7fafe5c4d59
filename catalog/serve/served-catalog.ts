import type { ServedContent } from './served-content.ts';

/** A named catalog, whose content can be replaced while requests read the old one. */
export class ServedCatalog {
  readonly name: string;
  #content: SharedContent;

  constructor(name: string, content: ServedContent) {
    this.name = name;
    this.#content = new SharedContent(content);
  }

  /** The current content, which stays open until the caller disposes of it. */
  borrow(): BorrowedContent {
    return this.#content.borrow();
  }

  /** Later requests get the new content. The old content closes after its last reader. */
  async replace(content: ServedContent): Promise<void> {
    const former = this.#content;
    this.#content = new SharedContent(content);
    await former.retire();
  }

  /** Closes the content after its last reader. Callers must not borrow it afterwards. */
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
