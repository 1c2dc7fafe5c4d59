import type { KubernetesObject } from '../../../api/meta.ts';
import type { ObjectKey, ReflectorSink, Resource } from '../../platform/kube/index.ts';
import { isNewer, objectID } from '../objects/object-id.ts';
import type { InventoryEntry } from './entry.ts';
import { entryOf, keyIn } from './entry.ts';

/** A change of an object; the inventory already reflects it. */
export interface ObjectEvent {
  /** `orphaned`: the owner released it, and it stays in the cluster. */
  readonly type: 'changed' | 'removed' | 'orphaned';
  readonly entry: InventoryEntry;
  /** The watch of the kind, or the response to a request of core. */
  readonly origin: 'watch' | 'request';
}

export interface ObjectEventListener {
  hear(event: ObjectEvent): void;
}

/** All live objects of all deployments, as the watches and core's own requests last saw them. */
export class Inventory {
  readonly #byKind = new Map<string, Map<string, InventoryEntry>>();
  readonly #byOwner = new Map<string, Set<InventoryEntry>>();
  /**
   * By kind, IDs of objects in responses to core's requests since the last list of the kind began.
   */
  readonly #answered = new Map<string, Set<string>>();
  /** By kind, the version of its last list. */
  readonly #listed = new Map<string, string>();
  /** Kinds whose watch has ended. */
  readonly #unwatched = new Set<string>();
  /** By kind, the last rewind of its objects. */
  readonly #histories = new Map<string, number>();
  #rewinds = 0;
  readonly #listeners: ObjectEventListener[] = [];

  /**
   * How often objects of any kind went back to an earlier version, because the server's store was
   * restored.
   */
  get rewinds(): number {
    return this.#rewinds;
  }

  /** Every listener receives each event, in the order of subscription. */
  subscribe(listener: ObjectEventListener): void {
    this.#listeners.push(listener);
  }

  get(resource: Resource, key: ObjectKey): InventoryEntry | undefined {
    return this.#byKind.get(kindOf(resource))?.get(objectID(resource, key));
  }

  ownedBy(owner: string): readonly InventoryEntry[] {
    return [...(this.#byOwner.get(owner) ?? [])];
  }

  /**
   * Stores the response to a request of core, unless the watch already knows a newer version, or
   * would not tell of the object's deletion. Returns the response as an entry.
   */
  put(resource: Resource, object: KubernetesObject): InventoryEntry {
    const entry = this.#entryOf(resource, object);
    this.#answered.get(kindOf(resource))?.add(entry.id);
    const known = this.get(resource, entry.key);
    const isGone = known === undefined && this.#mayBeGone(resource, object);
    if (isGone || (known !== undefined && isNewer(known.object, object))) return entry;
    this.#store(entry);
    // The watch will not report this again, and the former owner may wait for the object.
    if (known !== undefined && known.owner !== entry.owner) {
      this.#tell({ type: 'changed', entry, origin: 'request' });
    }
    return entry;
  }

  /** Whether an unknown object may have been deleted before its watch began, or after it ended. */
  #mayBeGone(resource: Resource, object: KubernetesObject): boolean {
    const resourceVersion = this.#listed.get(kindOf(resource));
    const isListed =
      resourceVersion !== undefined && !isNewer(object, { metadata: { resourceVersion } });
    return isListed || this.#unwatched.has(kindOf(resource));
  }

  /** Forgets an object that its owner released; a later event of the watch about it is not news. */
  orphan(entry: InventoryEntry): void {
    this.forget(entry);
    this.#tell({ type: 'orphaned', entry, origin: 'request' });
  }

  /** Forgets an object whose removal every listener knows. */
  forget({ owner, id }: InventoryEntry): void {
    for (const entry of this.ownedBy(owner)) {
      if (entry.id === id) this.#erase(entry);
    }
  }

  /** Forgets every object of a kind whose watch has ended, until its next `sink`. */
  dropKind(resource: Resource): void {
    const kind = kindOf(resource);
    this.#unwatched.add(kind);
    this.#listed.delete(kind);
    const entries = this.#byKind.get(kind)?.values().toArray() ?? [];
    for (const entry of entries) this.#remove(entry);
    this.#byKind.delete(kind);
  }

  /** Receives the events of one kind's watch. */
  sink(resource: Resource): ReflectorSink {
    this.#unwatched.delete(kindOf(resource));
    return {
      listing: () => void this.#answered.set(kindOf(resource), new Set()),
      replace: (items, resourceVersion) => this.#replace(resource, items, resourceVersion),
      upsert: (item) => this.#upsert(resource, item),
      remove: (item) => {
        const known = this.get(resource, keyIn(resource, item));
        // A deletion older than the known object is that of a predecessor.
        if (known !== undefined && !isNewer(known.object, item)) this.#remove(known);
      },
    };
  }

  /**
   * Replaces the known objects of a kind by a list, except responses that are newer than the list.
   */
  #replace(resource: Resource, items: readonly KubernetesObject[], listed: string): void {
    const kind = kindOf(resource);
    const known = [...(this.#byKind.get(kind)?.values() ?? [])];
    const answered = this.#answered.get(kind);
    this.#answered.delete(kind);
    this.#listed.set(kind, listed);
    const later = known.filter(({ object }) =>
      isNewer(object, { metadata: { resourceVersion: listed } }),
    );
    const kept = new Set(later.filter(({ id }) => answered?.has(id)).map(({ id }) => id));
    const versions = new Map(
      items.map((item) => [objectID(resource, keyIn(resource, item)), item]),
    );
    const isOlderNow = ({ id, object }: InventoryEntry): boolean => {
      const item = versions.get(id);
      return !kept.has(id) && item !== undefined && isNewer(object, item);
    };
    const rewound = later.length > kept.size || known.some(isOlderNow);
    if (rewound) {
      this.#rewinds += 1;
      this.#histories.set(kind, this.#rewinds);
    }
    for (const entry of known) {
      if (!versions.has(entry.id) && !kept.has(entry.id)) this.#remove(entry);
    }
    for (const [id, item] of versions) if (!kept.has(id)) this.#take(resource, item, rewound);
  }

  #upsert(resource: Resource, item: KubernetesObject): void {
    this.#take(resource, item, false);
  }

  /** Stores an item that is newer than the known one; with `always`, any item. */
  #take(resource: Resource, item: KubernetesObject, always: boolean): void {
    const entry = this.#entryOf(resource, item);
    const known = this.get(resource, entry.key);
    if (!always && known !== undefined && !isNewer(item, known.object)) return;
    this.#store(entry);
    this.#tell({ type: 'changed', entry, origin: 'watch' });
  }

  #historyOf(resource: Resource): number {
    return this.#histories.get(kindOf(resource)) ?? 0;
  }

  #entryOf(resource: Resource, live: KubernetesObject): InventoryEntry {
    return entryOf(resource, live, this.#historyOf(resource));
  }

  #store(entry: InventoryEntry): void {
    const known = this.get(entry.resource, entry.key);
    if (known !== undefined) this.#erase(known);
    const kind = kindOf(entry.resource);
    this.#byKind.set(kind, (this.#byKind.get(kind) ?? new Map()).set(entry.id, entry));
    this.#byOwner.set(entry.owner, (this.#byOwner.get(entry.owner) ?? new Set()).add(entry));
  }

  #remove(entry: InventoryEntry): void {
    this.#erase(entry);
    this.#tell({ type: 'removed', entry, origin: 'watch' });
  }

  #tell(event: ObjectEvent): void {
    for (const listener of this.#listeners) listener.hear(event);
  }

  #erase(entry: InventoryEntry): void {
    this.#byKind.get(kindOf(entry.resource))?.delete(entry.id);
    const siblings = this.#byOwner.get(entry.owner);
    siblings?.delete(entry);
    if (siblings?.size === 0) this.#byOwner.delete(entry.owner);
  }
}

function kindOf({ group, version, kind }: Resource): string {
  return `${group}|${version}|${kind}`;
}
