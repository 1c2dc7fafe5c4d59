import type { KubernetesObject } from '../../../api/meta.ts';
import { BoundedMap } from '../bounded-map.ts';
import {
  compareResourceVersions,
  formatKey,
  keyOf,
  type ObjectKey,
  type ReflectorSink,
} from '../kube/index.ts';

export interface CacheChange<T extends KubernetesObject> {
  readonly type: 'added' | 'updated' | 'deleted';
  /** The present object; the last state of a deleted one. */
  readonly object: T;
  /** The cached object before; undefined for an added one. */
  readonly previous: T | undefined;
}

type CacheListener<T extends KubernetesObject> = (change: CacheChange<T>) => void;

/** The values under which an index lists an object. */
type IndexFunction<T extends KubernetesObject> = (object: T) => readonly string[];

const rememberedDeletions = 4096;

/** The objects of a reflector, with indexes. Replaces an object by an older one only at a list. */
export class IndexedCache<T extends KubernetesObject = KubernetesObject>
  implements ReflectorSink<T>
{
  readonly #objects = new Map<string, T>();
  readonly #indexes: ReadonlyMap<string, ValueIndex<T>>;
  /** resourceVersions of deletions, for events and responses that arrive after them. */
  #tombstones = new BoundedMap<string, string>(rememberedDeletions);
  /**
   * The resourceVersion of the last list: an object that was missing in it, and is not newer, is
   * deleted.
   */
  #listed: string | undefined;
  /** Keys of core's own writes since the current list began. */
  #written: Set<string> | undefined;
  readonly #listeners = new Set<CacheListener<T>>();

  constructor(indexes: Readonly<Record<string, IndexFunction<T>>> = {}) {
    this.#indexes = new Map(
      Object.entries(indexes).map(([name, valuesOf]) => [name, new ValueIndex(valuesOf)]),
    );
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: ObjectKey): T | undefined {
    return this.#objects.get(formatKey(key));
  }

  list(): readonly T[] {
    return [...this.#objects.values()];
  }

  /** The objects with this value in the index. */
  byIndex(name: string, value: string): readonly T[] {
    const index = this.#indexes.get(name);
    if (index === undefined) throw new Error(`the cache has no index "${name}"`);
    return index.keys(value).flatMap((key) => this.#objects.get(key) ?? []);
  }

  /** Called at every change, in order, before the changing method returns. */
  onChange(listener: CacheListener<T>): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  listing(): void {
    this.#written = new Set();
  }

  /** Replaces all cached objects by a list, except own writes that are newer than the list. */
  replace(items: readonly T[], resourceVersion: string): void {
    const later = this.#writtenAfter(resourceVersion);
    const rewound = this.#isRewound(resourceVersion, later);
    const present = new Set(items.map((item) => formatKey(keyOf(item))));
    for (const [key, object] of this.#objects) {
      if (!present.has(key) && !later.has(key)) this.#drop(key, object);
    }
    this.#keepTombstones(later);
    this.#listed = resourceVersion;
    for (const item of items) {
      const key = formatKey(keyOf(item));
      const previous = this.#objects.get(key);
      if (later.has(key) || (!rewound && isSameVersion(item, previous))) continue;
      this.#put(key, item, previous);
    }
  }

  upsert(item: T): void {
    const key = formatKey(keyOf(item));
    // The watch may be behind core's own removal of the last finalizer: a deleted object that came
    // back in an earlier state would be worked on as if nobody had deleted it.
    if (isNotAfter(item, this.#tombstones.get(key))) return;
    const previous = this.#objects.get(key);
    if (isNotAfter(item, previous?.metadata.resourceVersion)) return;
    this.#put(key, item, previous);
  }

  remove(item: T): void {
    const key = formatKey(keyOf(item));
    const previous = this.#objects.get(key);
    // The deletion of a predecessor, reported after core recreated the object.
    if (previous !== undefined && isOlder(item, previous)) return;
    if (previous === undefined) this.#bury(key, item.metadata.resourceVersion);
    else this.#drop(key, item);
  }

  /**
   * Stores the server's response to an own write, so that the next reconcile never starts from an
   * older object. Ignored when the watch has already reported something newer, deletion included.
   */
  upsertIfNewer(object: T): void {
    const key = formatKey(keyOf(object));
    this.#written?.add(key);
    if (isFinalized(object)) {
      this.remove(object);
      return;
    }
    if (!isNotAfter(object, this.#listedWithout(key))) this.upsert(object);
  }

  #listedWithout(key: string): string | undefined {
    return this.#objects.has(key) ? undefined : this.#listed;
  }

  /** Keys of own writes since the list began that it cannot contain. */
  #writtenAfter(resourceVersion: string): ReadonlySet<string> {
    const written = [...(this.#written ?? [])].filter((key) => {
      const known = this.#objects.get(key)?.metadata.resourceVersion;
      return isLater(known ?? this.#tombstones.get(key), resourceVersion);
    });
    this.#written = undefined;
    return new Set(written);
  }

  /**
   * The cache has seen versions after that of the list, so that equal versions may belong to
   * different objects.
   */
  #isRewound(resourceVersion: string, later: ReadonlySet<string>): boolean {
    for (const [key, { metadata }] of this.#objects) {
      if (!later.has(key) && isLater(metadata.resourceVersion, resourceVersion)) return true;
    }
    return false;
  }

  #keepTombstones(keys: ReadonlySet<string>): void {
    const former = this.#tombstones;
    this.#tombstones = new BoundedMap(rememberedDeletions);
    for (const key of keys) this.#bury(key, former.get(key));
  }

  #put(key: string, object: T, previous: T | undefined): void {
    this.#objects.set(key, object);
    this.#tombstones.delete(key);
    for (const index of this.#indexes.values()) index.set(key, object);
    this.#notify({ type: previous === undefined ? 'added' : 'updated', object, previous });
  }

  #drop(key: string, object: T): void {
    const previous = this.#objects.get(key);
    this.#objects.delete(key);
    this.#bury(key, object.metadata.resourceVersion);
    for (const index of this.#indexes.values()) index.delete(key);
    this.#notify({ type: 'deleted', object, previous });
  }

  #bury(key: string, resourceVersion: string | undefined): void {
    if (resourceVersion !== undefined) this.#tombstones.set(key, resourceVersion);
  }

  #notify(change: CacheChange<T>): void {
    for (const listener of this.#listeners) listener(change);
  }
}

/** Whether the object is of that version or an earlier one. */
function isNotAfter({ metadata }: KubernetesObject, version: string | undefined): boolean {
  const order = compareResourceVersions(metadata.resourceVersion, version);
  return order !== undefined && order <= 0;
}

function isLater(version: string | undefined, than: string): boolean {
  return (compareResourceVersions(version, than) ?? 0) > 0;
}

function isSameVersion(item: KubernetesObject, previous: KubernetesObject | undefined): boolean {
  const { resourceVersion } = item.metadata;
  return resourceVersion !== undefined && resourceVersion === previous?.metadata.resourceVersion;
}

function isOlder(object: KubernetesObject, than: KubernetesObject): boolean {
  const order = compareResourceVersions(
    object.metadata.resourceVersion,
    than.metadata.resourceVersion,
  );
  return order !== undefined && order < 0;
}

/** The server answers the removal of the last finalizer with the deleted object. */
function isFinalized({ metadata }: KubernetesObject): boolean {
  const graceful = 'deletionGracePeriodSeconds' in metadata && metadata.deletionGracePeriodSeconds;
  return metadata.deletionTimestamp !== undefined && !metadata.finalizers?.length && !graceful;
}

/** Finds keys by values derived from their objects. */
class ValueIndex<T> {
  readonly #valuesOf: (object: T) => readonly string[];
  readonly #keys = new Map<string, Set<string>>();
  readonly #values = new Map<string, ReadonlySet<string>>();

  constructor(valuesOf: (object: T) => readonly string[]) {
    this.#valuesOf = valuesOf;
  }

  keys(value: string): readonly string[] {
    return [...(this.#keys.get(value) ?? [])];
  }

  set(key: string, object: T): void {
    this.delete(key);
    const values = new Set(this.#valuesOf(object));
    this.#values.set(key, values);
    for (const value of values) {
      const keys = this.#keys.get(value);
      if (keys === undefined) this.#keys.set(value, new Set([key]));
      else keys.add(key);
    }
  }

  delete(key: string): void {
    for (const value of this.#values.get(key) ?? []) {
      const keys = this.#keys.get(value);
      keys?.delete(key);
      if (keys?.size === 0) this.#keys.delete(value);
    }
    this.#values.delete(key);
  }
}
