import type { Blob } from '../../../catalog/blobs/index.ts';
import { errorMessage, type KubeClient, Semaphore } from '../../../core/controller.ts';
import {
  type AbsentCatalog,
  type CatalogContents,
  type CatalogIdentity,
  type CatalogKind,
  contentOf,
  type FoundPackage,
  recordOf,
  type ServingCatalog,
} from '../../catalogs/index.ts';
import { blobLines } from './blob-lines.ts';
import { type ListedCatalogs, listCatalogs } from './listed-catalogs.ts';

/** Reads a URL that the status of a catalog names. It never sends the user's credentials there. */
export type ReadContent = (url: URL, signal: AbortSignal) => AsyncIterable<Uint8Array>;

interface BlobQuery {
  readonly schema?: string;
  readonly package?: string;
  readonly name?: string;
}

/** A catalog, and why it could not be read. */
export interface UnreadCatalog {
  readonly catalog: CatalogIdentity;
  readonly problem: string;
}

interface RemoteCatalogsOptions {
  readonly client: Pick<KubeClient, 'list'>;
  readonly read: ReadContent;
  readonly signal: AbortSignal;
}

/** Concurrent requests to all catalogs together. */
const concurrency = 4;

/**
 * The catalogs of a cluster from outside, by the content that they serve. Each package is read once.
 * A catalog that cannot be read does not affect the others.
 */
export class RemoteCatalogs implements Pick<CatalogContents, 'serving' | 'absent' | 'findPackage'> {
  readonly #listed: ListedCatalogs;
  readonly #read: ReadContent;
  readonly #signal: AbortSignal;
  readonly #requests = new Semaphore(concurrency);
  readonly #packages = new Map<string, Promise<FoundPackage | undefined>>();
  readonly #unread = new Map<string, UnreadCatalog>();

  private constructor(listed: ListedCatalogs, { read, signal }: RemoteCatalogsOptions) {
    this.#listed = listed;
    this.#read = read;
    this.#signal = signal;
  }

  /** @throws ApiError if the user may not list catalogs */
  static async open(options: RemoteCatalogsOptions): Promise<RemoteCatalogs> {
    return new RemoteCatalogs(await listCatalogs(options.client, options.signal), options);
  }

  /** The kinds of catalogs that the cluster serves. */
  get kinds(): ReadonlySet<CatalogKind> {
    return this.#listed.kinds;
  }

  /**
   * Catalogs without content, except those that are switched off, and catalogs that could not be read
   * so far.
   */
  get unread(): readonly UnreadCatalog[] {
    const missing = this.#listed.absent.filter(({ state }) => state !== 'Unavailable');
    const absent = missing.map(({ state, problem, ...catalog }) => ({
      catalog,
      problem: state === 'Pending' ? 'it is not unpacked yet' : problem,
    }));
    return [...absent, ...this.unreachable];
  }

  /** Catalogs with content that could not be read so far. */
  get unreachable(): readonly UnreadCatalog[] {
    return [...this.#unread.values()];
  }

  serving(): readonly ServingCatalog[] {
    return this.#listed.serving.map(({ catalog }) => catalog);
  }

  absent(): readonly AbsentCatalog[] {
    return this.#listed.absent;
  }

  async findPackage(
    name: string,
    isWanted: (catalog: ServingCatalog) => boolean,
  ): Promise<readonly FoundPackage[]> {
    const wanted = this.serving().filter(isWanted);
    const found = await Promise.all(wanted.map((catalog) => this.#packageOnce(catalog, name)));
    return found.filter((each) => each !== undefined);
  }

  /**
   * The matching blobs of a catalog. Servers that know no parameters send all: those are left out
   * here.
   * @throws Error
   */
  async *blobs(catalog: CatalogIdentity, query: BlobQuery): AsyncGenerator<Blob> {
    const url = new URL(this.#urlOf(catalog));
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const leave = await this.#requests.take(this.#signal);
    try {
      for await (const blob of blobLines(this.#read(url, this.#signal))) {
        if (matches(blob, query)) yield blob;
      }
    } finally {
      leave();
    }
  }

  /** The result of reading a catalog; undefined, and the catalog among the unread, if that fails. */
  async attempt<T>(catalog: CatalogIdentity, read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      if (this.#signal.aborted) throw error;
      this.#unread.set(keyOf(catalog), { catalog, problem: errorMessage(error) });
      return undefined;
    }
  }

  #urlOf(catalog: CatalogIdentity): string {
    const key = keyOf(catalog);
    const listed = this.#listed.serving.find((each) => keyOf(each.catalog) === key);
    if (listed === undefined) throw new Error(`catalog "${catalog.name}" is not served`);
    return listed.url;
  }

  async #packageOnce(catalog: ServingCatalog, name: string): Promise<FoundPackage | undefined> {
    const key = JSON.stringify([keyOf(catalog), name]);
    const found = this.#packages.get(key) ?? this.#packageOf(catalog, name);
    this.#packages.set(key, found);
    return await found;
  }

  async #packageOf(catalog: ServingCatalog, name: string): Promise<FoundPackage | undefined> {
    const { name: catalogName, priority } = catalog;
    const reference = { name: catalogName, namespace: '', priority };
    const found = await this.attempt(catalog, async () => {
      const blobs = new CountedBlobs(this.#blobsOf(catalog, name));
      const content = contentOf(await recordOf(blobs), { catalog: reference, name });
      return { content, count: blobs.count };
    });
    if (found === undefined) {
      return { catalog, problem: this.#unread.get(keyOf(catalog))?.problem ?? '' };
    }
    return found.count === 0 ? undefined : { catalog, content: found.content };
  }

  async *#blobsOf(catalog: CatalogIdentity, name: string): AsyncGenerator<Blob> {
    yield* this.blobs(catalog, { schema: 'olm.package', name });
    yield* this.blobs(catalog, { package: name });
  }
}

class CountedBlobs implements AsyncIterable<Blob> {
  readonly #blobs: AsyncIterable<Blob>;
  count = 0;

  constructor(blobs: AsyncIterable<Blob>) {
    this.#blobs = blobs;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Blob> {
    for await (const blob of this.#blobs) {
      this.count += 1;
      yield blob;
    }
  }
}

function matches(blob: Blob, { schema, package: owner, name }: BlobQuery): boolean {
  return (
    (schema === undefined || blob.schema === schema) &&
    (owner === undefined || blob.package === owner) &&
    (name === undefined || blob.name === name)
  );
}

function keyOf({ kind, name }: CatalogIdentity): string {
  return `${kind}/${name}`;
}
