import { isDeepStrictEqual } from 'node:util';
import { type RequestedCatalog, ServedCatalog } from '../../../catalog/serve/index.ts';
import type { Clock } from '../../../core/controller.ts';
import type { GroupVersionKind } from '../../../resolver/constraints/index.ts';
import type {
  AbsentCatalog,
  CatalogIdentity,
  ContentChange,
  FoundPackage,
  ProvidingPackages,
  ServingCatalog,
  StoredContents,
  StoredPlace,
} from '../catalog-contents.ts';
import type { CatalogContent } from '../content/catalog-content.ts';
import type { CatalogKey, StoredContent, StoredState } from '../content/content-store.ts';
import {
  absentOf,
  type Entry,
  keyOf,
  keysOf,
  newEntry,
  none,
  offered,
  packageIn,
  packagesOf,
  pendingTooLong,
  referenceOf,
  type Serving,
  servingOf,
} from './catalog-entry.ts';
import { DamagedContents } from './damage.ts';

/**
 * The catalogs of the cluster, and the content of those that this process serves. HTTP has what there
 * is; resolutions have only what the status names, because a leader before may have installed from it.
 */
export class ServedCatalogs implements StoredContents {
  readonly damaged = new DamagedContents();
  readonly #entries = new Map<string, Entry>();
  readonly #listeners = new Set<(change: ContentChange) => void>();
  readonly #clock: Pick<Clock, 'sleep'>;

  constructor(clock: Pick<Clock, 'sleep'>) {
    this.#clock = clock;
  }

  /** Notes a catalog, or its new labels and priority. */
  note(identity: CatalogIdentity): void {
    const entry = this.#entries.get(keyOf(identity));
    if (entry === undefined) {
      const noted = newEntry(identity);
      this.#entries.set(keyOf(identity), noted);
      this.#await(noted, none);
    } else if (!isDeepStrictEqual(entry.identity, identity)) {
      entry.identity = identity;
      this.#notify(identity, packagesOf(offered(entry)));
    }
  }

  /** Notes the content that resolutions need: other content is served, and not resolved from. */
  expect(key: CatalogKey, named: string | undefined): void {
    const entry = this.#entries.get(keyOf(key));
    if (entry !== undefined) this.#change(entry, { named });
  }

  /** Notes the content that comes; what is served stays in use while the status names that already. */
  announce(key: CatalogKey, coming: string | undefined): void {
    const entry = this.#entries.get(keyOf(key));
    if (entry !== undefined) this.#change(entry, { coming });
  }

  /** What is served of a catalog; undefined for none. */
  stateOf(key: CatalogKey): StoredState | undefined {
    return this.#entries.get(keyOf(key))?.serving?.state;
  }

  /** Whether the disk has damaged what is served of a catalog. */
  isDamaged(key: CatalogKey): boolean {
    return this.damaged.has(this.#servedOf(key));
  }

  /** Number of packages that are served of a catalog. */
  packagesOf(key: CatalogKey): number {
    return this.#entries.get(keyOf(key))?.serving?.content.records.packages.size ?? 0;
  }

  /** Serves content from now on; former content closes after its last reader. */
  async serve(key: CatalogKey, { content, state }: StoredContent): Promise<void> {
    const entry = this.#entries.get(keyOf(key));
    if (entry === undefined) return await content[Symbol.asyncDispose]();
    const former = entry.serving;
    const catalog = former?.catalog ?? new ServedCatalog(key.name, content);
    this.#change(entry, { serving: { catalog, content, state }, coming: undefined });
    if (former !== undefined) await catalog.replace(content);
  }

  /** Notes that the content, as it is, has been found for another reference. */
  restate(key: CatalogKey, state: StoredState): void {
    const entry = this.#entries.get(keyOf(key));
    if (entry?.serving !== undefined) entry.serving = { ...entry.serving, state };
  }

  /** Notes why there is no newer content; undefined if nothing is wrong. */
  report(key: CatalogKey, problem: string | undefined): void {
    const entry = this.#entries.get(keyOf(key));
    if (entry === undefined) return;
    const absence = problem === undefined ? entry.absence : 'Failed';
    if (entry.problem === problem && entry.absence === absence) return;
    Object.assign(entry, { problem, absence } satisfies Partial<Entry>);
    this.#notify(entry.identity, none);
  }

  /** Stops serving a catalog that a user has switched off. */
  async switchOff(key: CatalogKey, problem: string): Promise<void> {
    const entry = this.#entries.get(keyOf(key));
    if (entry === undefined || entry.absence === 'Unavailable') return;
    const { identity, serving } = entry;
    const packages = packagesOf(offered(entry));
    const off = { serving: undefined, absence: 'Unavailable', problem } satisfies Partial<Entry>;
    Object.assign(entry, off);
    this.#notify(identity, packages);
    await serving?.catalog.close();
  }

  /** The catalog is on again, and its content has to be found. */
  switchOn(key: CatalogKey): void {
    const entry = this.#entries.get(keyOf(key));
    if (entry?.absence === 'Unavailable') this.#await(entry, none);
  }

  async remove(key: CatalogKey): Promise<void> {
    const entry = this.#entries.get(keyOf(key));
    this.#entries.delete(keyOf(key));
    if (entry === undefined) return;
    entry.waiting.abort();
    this.#notify(entry.identity, packagesOf(offered(entry)));
    await entry.serving?.catalog.close();
  }

  /** The catalog that a path names. */
  find(requested: RequestedCatalog): ServedCatalog<CatalogContent> | undefined {
    const found = keysOf(requested).map((key) => this.#entries.get(keyOf(key)));
    return found.find((entry) => entry !== undefined)?.serving?.catalog;
  }

  serving(): readonly ServingCatalog[] {
    return servingOf([...this.#entries.values()]);
  }

  absent(): readonly AbsentCatalog[] {
    return absentOf([...this.#entries.values()]);
  }

  async findPackage(
    name: string,
    isWanted: (catalog: ServingCatalog) => boolean,
  ): Promise<readonly FoundPackage[]> {
    const wanted = this.serving().filter(isWanted);
    const found = wanted.map(async (catalog) => {
      const served = this.#servedOf(catalog);
      const result = served && (await packageIn(served, catalog, name));
      if (served && result && 'isUnreadable' in result) void this.damaged.examine(catalog, served);
      return result;
    });
    return (await Promise.all(found)).filter((each) => each !== undefined);
  }

  packageBytes(name: string, isWanted: (catalog: ServingCatalog) => boolean): number {
    return this.serving()
      .filter(isWanted)
      .map((catalog) => this.#servedOf(catalog)?.content.records.bytesOf(name) ?? 0)
      .reduce((sum, bytes) => sum + bytes, 0);
  }

  places(isWanted: (catalog: ServingCatalog) => boolean): readonly StoredPlace[] {
    return this.serving()
      .filter(isWanted)
      .flatMap((catalog) => {
        const directory = this.#servedOf(catalog)?.content.directory;
        return directory === undefined ? [] : [{ catalog: referenceOf(catalog), directory }];
      });
  }

  suspect(name: string): void {
    this.damaged.suspect(
      [...this.#entries.values()].filter(({ identity }) => identity.name === name),
    );
  }

  packagesProviding(api: GroupVersionKind): readonly ProvidingPackages[] {
    return this.serving().flatMap((catalog) => {
      const packages = this.#servedOf(catalog)?.content.records.packagesProviding(api) ?? [];
      return packages.length === 0 ? [] : [{ catalog, packages }];
    });
  }

  onChange(listener: (change: ContentChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Stops serving everything, without telling anyone. */
  async close(): Promise<void> {
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    for (const { waiting } of entries) waiting.abort();
    await Promise.all(entries.map(async ({ serving }) => await serving?.catalog.close()));
  }

  /** Changes what is served, or what resolutions need, and tells what that is for these. */
  #change(entry: Entry, change: Partial<Pick<Entry, 'serving' | 'named' | 'coming'>>): void {
    const before = offered(entry);
    Object.assign(entry, change);
    const now = offered(entry);
    if (now === before) return;
    if (now === undefined) return this.#await(entry, packagesOf(before));
    entry.waiting.abort();
    entry.problem = undefined;
    const { records } = now.content;
    const isNew = before === undefined || this.damaged.has(before);
    const packages = isNew ? records.packages : records.changedSince(before.content.records);
    this.#notify(entry.identity, packages);
  }

  /** Waits for content; resolutions lose these packages. */
  #await(entry: Entry, packages: ReadonlySet<string>): void {
    entry.absence = 'Pending';
    entry.problem = undefined;
    entry.waiting.abort();
    entry.waiting = new AbortController();
    this.#notify(entry.identity, packages);
    void this.#endPending(entry);
  }

  async #endPending(entry: Entry): Promise<void> {
    const problem = await pendingTooLong(entry, this.#clock);
    const isPending = this.#entries.get(keyOf(entry.identity))?.absence === 'Pending';
    if (problem !== undefined && isPending) this.report(entry.identity, problem);
  }

  #servedOf(catalog: CatalogKey): Serving | undefined {
    return this.#entries.get(keyOf(catalog))?.serving;
  }

  #notify(catalog: CatalogIdentity, packages: ReadonlySet<string>): void {
    for (const listener of this.#listeners) listener({ catalog, packages });
  }
}
