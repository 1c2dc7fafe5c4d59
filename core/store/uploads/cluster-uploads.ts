import { createHash, randomBytes } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { ContentKey } from '../../contracts/store.ts';
import type { UploadStore } from '../../contracts/upload-store.ts';
import { type Clock, systemClock } from '../../platform/clock.ts';
import {
  collectionPath,
  isAlreadyExists,
  isConflict,
  isNotFound,
  type KubeClient,
  liveObject,
  queryString,
  secretResource,
} from '../../platform/kube/index.ts';
import {
  aChunk,
  anIndex,
  chunkBytes,
  chunkName,
  collectUploads,
  indexName,
  OrphanedSets,
  setOf,
  type UploadSet,
  uploadLabel,
} from './upload-secrets.ts';

export interface ClusterUploadsOptions {
  readonly client: KubeClient;
  /** Namespace of the Secrets. */
  readonly namespace: string;
  readonly clock?: Pick<Clock, 'monotonic'>;
}

/** etcd accepts objects of about 1.5 MiB; base64 adds a third. */
const chunkSize = 512 * 1024;
const inChunks = { highWaterMark: chunkSize, autoClose: false };
const maxTries = 10;
/** Milliseconds. */
const discardTime = 30_000;

/**
 * Uploads in Secrets, shared by all replicas. A PUT first writes its own chunks, and at the end
 * names them in the Bundle's single index Secret: readers use only the index.
 */
export class ClusterUploads implements UploadStore {
  readonly #client: KubeClient;
  readonly #namespace: string;
  readonly #orphans: OrphanedSets;

  constructor({ client, namespace, clock = systemClock }: ClusterUploadsOptions) {
    this.#client = client;
    this.#namespace = namespace;
    this.#orphans = new OrphanedSets(clock);
  }

  async has(key: ContentKey, signal: AbortSignal): Promise<boolean> {
    return (await this.#current(key, signal)) !== undefined;
  }

  async digest(key: ContentKey, signal: AbortSignal): Promise<string | undefined> {
    return (await this.#current(key, signal))?.digest;
  }

  async put(
    key: ContentKey,
    upload: Parameters<UploadStore['put']>[1],
    signal: AbortSignal,
  ): Promise<void> {
    const set = randomBytes(8).toString('hex');
    const { path, digest, confirm = async () => undefined } = upload;
    const chunks = await this.#orDiscard(set, () => this.#writeChunks(key, { path, set }, signal));
    const index = anIndex(this.#namespace, key, { set, chunks, digest });
    const replaced = await this.#writeIndex(index, { set, confirm }, signal);
    if (replaced !== undefined) await this.#discard(replaced.set);
  }

  async read(key: ContentKey, signal: AbortSignal): Promise<AsyncIterable<Uint8Array> | undefined> {
    const current = await this.#current(key, signal);
    return current && this.#chunks(key, current, signal);
  }

  async delete({ uid }: ContentKey, signal: AbortSignal): Promise<void> {
    await this.#deleteWhere(uploadLabel.of, uid, signal);
  }

  async collect(
    isWanted: (key: ContentKey) => Promise<boolean>,
    signal: AbortSignal,
  ): Promise<void> {
    const uploads = { client: this.#client, namespace: this.#namespace, signal };
    const orphans = this.#orphans;
    for (const { label, value } of await collectUploads(uploads, { isWanted, orphans })) {
      await this.#deleteWhere(label, value, signal);
    }
  }

  async #current({ uid }: ContentKey, signal: AbortSignal): Promise<UploadSet | undefined> {
    try {
      return setOf(await this.#client.get(secretResource, this.#at(indexName(uid)), signal));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async *#chunks(
    { name, uid }: ContentKey,
    { set, chunks, digest }: UploadSet,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    const hash = createHash('sha256');
    for (let index = 0; index < chunks; index += 1) {
      const bytes = await this.#chunk(chunkName(uid, set, index), name, signal);
      hash.update(bytes);
      yield bytes;
    }
    if (hash.digest('hex') === digest) return;
    throw new Error(
      `the upload of Bundle "${name}" is damaged: delete the Secret "${indexName(uid)}" in namespace "${this.#namespace}" and upload it again`,
    );
  }

  async #chunk(secret: string, bundle: string, signal: AbortSignal): Promise<Uint8Array> {
    try {
      return chunkBytes(await this.#client.get(secretResource, this.#at(secret), signal));
    } catch (error) {
      if (!isNotFound(error)) throw error;
      throw new Error(`the upload of Bundle "${bundle}" was replaced while it was being read`, {
        cause: error,
      });
    }
  }

  async #writeChunks(
    key: ContentKey,
    { path, set }: { readonly path: string; readonly set: string },
    signal: AbortSignal,
  ): Promise<number> {
    const file = await open(path);
    try {
      let index = 0;
      for await (const bytes of file.createReadStream(inChunks)) {
        const chunk = aChunk(this.#namespace, key, { set, index, bytes: bytes as Uint8Array });
        await this.#client.create(secretResource, chunk, signal).catch(unlessCreated);
        index += 1;
      }
      return index;
    } finally {
      await file.close();
    }
  }

  /**
   * Resolves to the set that the index named before. Confirms for exactly that one: the upload of another
   * replica may have been unpacked since.
   */
  async #writeIndex(
    index: KubernetesObject,
    { set, confirm }: { readonly set: string; readonly confirm: () => Promise<void> },
    signal: AbortSignal,
  ): Promise<UploadSet | undefined> {
    const at = this.#at(index.metadata.name ?? '');
    for (let tries = 1; ; tries += 1) {
      const before = await liveObject(this.#client, { resource: secretResource, key: at }, signal);
      const former = before && setOf(before);
      // The API server has done what it did not answer: these are no earlier chunks to delete.
      if (former?.set === set) return undefined;
      await this.#orDiscard(set, confirm);
      try {
        await this.#replace(before, index, signal);
        return former;
      } catch (error) {
        if (!isRaced(error) || tries === maxTries) throw error;
      }
    }
  }

  async #replace(
    before: KubernetesObject | undefined,
    index: KubernetesObject,
    signal: AbortSignal,
  ): Promise<void> {
    if (before === undefined) {
      await this.#client.create(secretResource, index, signal);
      return;
    }
    const { resourceVersion = '' } = before.metadata;
    const metadata = { ...index.metadata, resourceVersion };
    await this.#client.update(secretResource, { ...index, metadata }, signal);
  }

  /** Discards the chunks at once if it fails: a client that repeats the upload would fill the cluster. */
  async #orDiscard<T>(set: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      await this.#discard(set);
      throw error;
    }
  }

  /** Deletes the chunks of a PUT, as far as possible: `collect` deletes what remains. */
  async #discard(set: string): Promise<void> {
    // With time of its own: that of the upload may be over.
    const signal = AbortSignal.timeout(discardTime);
    await this.#deleteWhere(uploadLabel.set, set, signal).catch(() => undefined);
  }

  async #deleteWhere(label: string, value: string, signal: AbortSignal): Promise<void> {
    const path = collectionPath(secretResource, this.#namespace);
    const query = queryString({ labelSelector: `${uploadLabel.part},${label}=${value}` });
    await this.#client.request({ method: 'DELETE', path: path + query, signal });
  }

  #at(name: string): { readonly namespace: string; readonly name: string } {
    return { namespace: this.#namespace, name };
  }
}

function isRaced(error: unknown): boolean {
  return isConflict(error) || isAlreadyExists(error) || isNotFound(error);
}

/** Only this PUT has the name, which is random: an earlier try was fulfilled without an answer. */
function unlessCreated(error: unknown): void {
  if (!isAlreadyExists(error)) throw error;
}
