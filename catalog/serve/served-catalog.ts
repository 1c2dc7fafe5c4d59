import type { StoredCatalog } from '../index/index.ts';
import type { ServedContent } from './served-content.ts';

/** Open content of a catalog that HTTP can serve. */
export interface ServableContent extends AsyncDisposable {
  readonly blobs: StoredCatalog;
}

/** A named catalog, whose content can be replaced while requests read the old one. */
export class ServedCatalog<C extends ServableContent = ServedContent> {
  readonly name: string;
  #content: SharedContent<C>;

  constructor(name: string, content: C) {
    this.name = name;
    this.#content = new SharedContent(content);
  }

  /** The current content, which stays open until the caller disposes of it. */
  borrow(): BorrowedContent<C> {
    return this.#content.borrow();
  }

  /** Later requests get the new content. The old content closes after its last reader. */
  async replace(content: C): Promise<void> {
    const former = this.#content;
    this.#content = new SharedContent(content);
    await former.retire();
  }

  /** Closes the content after its last reader. Callers must not borrow it afterwards. */
  async close(): Promise<void> {
    await this.#content.retire();
  }
}

export interface BorrowedContent<C = ServedContent> extends AsyncDisposable {
  readonly content: C;
}

class SharedContent<C extends ServableContent> {
  readonly #content: C;
  #readers = 0;
  #isRetired = false;

  constructor(content: C) {
    this.#content = content;
  }

  borrow(): BorrowedContent<C> {
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
