import type { KubernetesObject } from '../../api/meta.ts';
import { ApiError, type ObjectKey, type Resource } from '../../core/platform/kube/index.ts';
import type {
  ListOptions,
  ObjectList,
  WatchEvent,
  WatchOptions,
} from '../../core/platform/kube/kube-client.ts';

type Watcher = (name: string, event: WatchEvent) => void;

/** Objects in memory, by name, with optimistic concurrency and watches as the API server has them. */
export class ObjectTracker {
  /** Every request but watches, in order. */
  readonly requests: string[] = [];
  /** Runs before each write; to let another client be quicker. */
  beforeWrite: () => void = () => undefined;
  readonly #objects = new Map<string, KubernetesObject>();
  readonly #watchers = new Set<Watcher>();
  #version = 0;

  peek(name: string): KubernetesObject | undefined {
    return this.#objects.get(name);
  }

  /** Puts an object in place as another client would. */
  put(name: string, object: KubernetesObject): KubernetesObject {
    this.#version += 1;
    const metadata = { ...object.metadata, resourceVersion: String(this.#version) };
    const stored = structuredClone({ ...object, metadata });
    const type = this.#objects.has(name) ? 'MODIFIED' : 'ADDED';
    this.#objects.set(name, stored);
    this.#tell(name, { type, object: stored });
    return stored;
  }

  remove(name: string): void {
    const object = this.#objects.get(name);
    if (object === undefined) return;
    this.#version += 1;
    this.#objects.delete(name);
    const metadata = { ...object.metadata, resourceVersion: String(this.#version) };
    this.#tell(name, { type: 'DELETED', object: { ...object, metadata } });
  }

  async get(_resource: unknown, key: ObjectKey): Promise<KubernetesObject> {
    this.requests.push('get');
    return this.#existing(key.name);
  }

  async create(_resource: unknown, object: KubernetesObject): Promise<KubernetesObject> {
    this.requests.push('create');
    this.beforeWrite();
    const name = object.metadata.name ?? '';
    if (this.#objects.has(name)) throw new ApiError(409, {});
    return this.put(name, object);
  }

  async update(_resource: unknown, object: KubernetesObject): Promise<KubernetesObject> {
    this.requests.push('update');
    this.beforeWrite();
    const { metadata } = object;
    const live = this.#existing(metadata.name ?? '');
    if (live.metadata.resourceVersion !== metadata.resourceVersion) throw new ApiError(409, {});
    return this.put(metadata.name ?? '', object);
  }

  /** JSON patch, of the operations and places that the webhooks use. */
  async patch({ key }: { readonly key: ObjectKey }, patch: unknown): Promise<KubernetesObject> {
    this.requests.push('patch');
    this.beforeWrite();
    const object = structuredClone(this.#existing(key.name));
    for (const { op, path, value } of patch as { op: string; path: string; value: unknown }[]) {
      const keys = path.split('/').slice(1);
      const last = keys.pop() ?? '';
      const parent = keys.reduce<Record<string, unknown> | undefined>(
        (node, step) => node?.[step] as Record<string, unknown> | undefined,
        object as unknown as Record<string, unknown>,
      );
      if (parent === undefined || (op === 'test' && parent[last] !== value))
        throw new ApiError(422, {});
      if (op === 'add') parent[last] = value;
    }
    return this.put(key.name, object);
  }

  async list(_resource: unknown, { fieldSelector }: ListOptions = {}): Promise<ObjectList> {
    const object = this.#objects.get(nameIn(fieldSelector));
    return {
      metadata: { resourceVersion: String(this.#version) },
      items: object === undefined ? [] : [object],
    };
  }

  /** Of one object, with what is there at first. */
  async *watch(
    resource: Resource,
    { fieldSelector, signal }: WatchOptions,
  ): AsyncGenerator<WatchEvent> {
    const name = nameIn(fieldSelector);
    const events: WatchEvent[] = [];
    let turn = Promise.withResolvers<void>();
    const tell: Watcher = (changed, event) => {
      if (changed !== name) return;
      events.push(event);
      turn.resolve();
    };
    const { items } = await this.list(resource, { fieldSelector });
    events.push(...items.map((object) => ({ type: 'ADDED', object }) as const), this.#bookmark());
    this.#watchers.add(tell);
    const stop = (): void => turn.resolve();
    signal.addEventListener('abort', stop, { once: true });
    try {
      while (!signal.aborted) {
        for (let event = events.shift(); event !== undefined; event = events.shift()) yield event;
        turn = Promise.withResolvers();
        if (!signal.aborted) await turn.promise;
      }
    } finally {
      this.#watchers.delete(tell);
      signal.removeEventListener('abort', stop);
    }
  }

  #bookmark(): WatchEvent {
    const metadata = {
      resourceVersion: String(this.#version),
      annotations: { 'k8s.io/initial-events-end': 'true' },
    };
    return { type: 'BOOKMARK', object: { apiVersion: 'v1', kind: 'Any', metadata } };
  }

  #existing(name: string): KubernetesObject {
    const object = this.#objects.get(name);
    if (object === undefined) throw new ApiError(404, {});
    return object;
  }

  #tell(name: string, event: WatchEvent): void {
    for (const tell of this.#watchers) tell(name, event);
  }
}

function nameIn(fieldSelector = ''): string {
  return fieldSelector.replace('metadata.name=', '');
}
