import type { KubernetesObject } from '../../api/meta.ts';
import {
  ApiError,
  type KubeClient,
  keyOf,
  type ObjectKey,
  type Resource,
} from '../../core/platform/kube/index.ts';
import type {
  DeleteOptions,
  ListOptions,
  ObjectList,
  PatchOptions,
  WatchEvent,
  WatchOptions,
} from '../../core/platform/kube/kube-client.ts';
import { jsonPatched, refusal } from './json-patched.ts';

interface LoggedEvent {
  readonly version: number;
  readonly event: WatchEvent;
}

interface OpenWatch {
  readonly wake: () => void;
  readonly queue: LoggedEvent[];
  end: { readonly error?: Error } | undefined;
  isSilent?: boolean;
}

interface SentPatch {
  readonly name: string;
  readonly patch: unknown;
  readonly options: PatchOptions;
}

type Call = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';

/** An API server of one resource in memory, for the faults that a real one cannot be asked for. */
export class FakeKubeClient implements KubeClient {
  /** Every call, in order. */
  readonly calls: Call[] = [];
  /** The body of each patch, including refused ones. */
  readonly patches: SentPatch[] = [];
  /** Errors for the next calls, first to first; undefined lets a call pass. */
  readonly faults: Partial<Record<Call, (Error | undefined)[]>> = {};
  /** Runs before each call is answered. */
  beforeCall: (call: Call, signal?: AbortSignal) => void | Promise<void> = () => undefined;
  /** Delays the answer of a list: it has what was there when the list was asked for. */
  afterCall: (call: 'list') => void | Promise<void> = () => undefined;
  /** The fate of a watch that requests initial events; old servers refuse or ignore it. */
  initialEvents: 'refused' | 'ignored' | 'sent' = 'refused';
  readonly #objects = new Map<string, KubernetesObject>();
  readonly #watches = new Set<OpenWatch>();
  #log: LoggedEvent[] = [];
  #version = 100;
  /** Watches from before this version get a Gone error. */
  #oldest = 0;

  get openWatches(): number {
    return this.#watches.size;
  }

  /** All objects as they are. */
  get everything(): readonly KubernetesObject[] {
    return [...this.#objects.values()];
  }

  count(call: Call): number {
    return this.calls.filter((other) => other === call).length;
  }

  peek(key: ObjectKey): KubernetesObject | undefined {
    return this.#objects.get(textOf(key));
  }

  /** Creates or changes an object as another client would. */
  put(object: KubernetesObject): KubernetesObject {
    const key = textOf(keyOf(object));
    const previous = this.#objects.get(key);
    const stored = this.#stamp(
      object,
      previous?.metadata.uid ?? object.metadata.uid ?? `uid-${this.#version}`,
    );
    this.#objects.set(key, stored);
    this.#tell({ type: previous === undefined ? 'ADDED' : 'MODIFIED', object: stored });
    return stored;
  }

  drop(key: ObjectKey): void {
    const object = this.#objects.get(textOf(key));
    if (object === undefined) return;
    this.#objects.delete(textOf(key));
    this.#tell({ type: 'DELETED', object: this.#stamp(object, object.metadata.uid) });
  }

  /** Sends every open watch an event that no change is behind. */
  send(event: WatchEvent): void {
    this.#deliver({ version: this.#version, event });
  }

  /** Closes every open watch, with an error or as the server does after its time. */
  endWatches(error?: Error): void {
    for (const watch of this.#watches) {
      watch.end = error === undefined ? {} : { error };
      watch.wake();
    }
  }

  /** No open watch gets another event; those opened later do. */
  silenceWatches(): void {
    for (const watch of this.#watches) watch.isSilent = true;
  }

  /** Forgets all history: watches from older versions get 410. Returns the resourceVersion. */
  compact(): string {
    this.#version += 1;
    this.#oldest = this.#version;
    this.#log = [];
    return String(this.#version);
  }

  /** A copy of all objects, for a later restore: watches from later versions stay silent. */
  snapshot(): () => void {
    const [objects, version] = [new Map(this.#objects), this.#version];
    return () => {
      this.#objects.clear();
      for (const [key, object] of objects) this.#objects.set(key, object);
      this.#version = version;
      this.#log = [];
    };
  }

  async get(_: Resource, key: ObjectKey, signal?: AbortSignal): Promise<KubernetesObject> {
    await this.#enter('get', signal);
    return this.#existing(key);
  }

  #initialEvents(): readonly LoggedEvent[] {
    if (this.initialEvents === 'ignored') return [];
    if (this.initialEvents === 'refused') {
      const message = 'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch';
      throw new ApiError(422, { reason: 'Invalid', message });
    }
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    const metadata = { resourceVersion: String(this.#version), annotations };
    const end = { apiVersion: 'v1', kind: 'Bookmark', metadata };
    const added = [...this.#objects.values()].map((object) => ({ type: 'ADDED', object }) as const);
    const events: readonly WatchEvent[] = [...added, { type: 'BOOKMARK', object: end }];
    return events.map((event) => ({ version: this.#version, event }));
  }

  async list(_: Resource, options: ListOptions = {}): Promise<ObjectList> {
    await this.#enter('list', options.signal);
    const all = [...this.#objects.values()];
    const from = Number(options.continue ?? 0);
    const to = options.limit === undefined ? all.length : from + options.limit;
    const resourceVersion = String(this.#version);
    const more = to < all.length;
    await this.afterCall('list');
    return {
      metadata: { resourceVersion, ...(more && { continue: String(to) }) },
      items: all.slice(from, to),
    };
  }

  async *watch(_: Resource, options: WatchOptions): AsyncGenerator<WatchEvent> {
    const initial = options.sendInitialEvents === true ? this.#initialEvents() : [];
    await this.#enter('watch', options.signal);
    const since = options.resourceVersion === '' ? this.#version : Number(options.resourceVersion);
    if (since < this.#oldest) throw new ApiError(410, { reason: 'Expired', message: 'too old' });
    let wake = Promise.withResolvers<void>();
    const queue = this.#log.filter(({ version }) => version > since);
    queue.unshift(...initial);
    const watch: OpenWatch = { queue, wake: () => wake.resolve(), end: undefined };
    const onAbort = (): void => {
      watch.end = { error: options.signal.reason as Error };
      watch.wake();
    };
    options.signal.addEventListener('abort', onAbort);
    this.#watches.add(watch);
    options.onOpen?.();
    try {
      for (;;) {
        for (let next = queue.shift(); next !== undefined; next = queue.shift()) yield next.event;
        if (watch.end?.error !== undefined) throw watch.end.error;
        if (watch.end !== undefined) return;
        await wake.promise;
        wake = Promise.withResolvers<void>();
      }
    } finally {
      this.#watches.delete(watch);
      options.signal.removeEventListener('abort', onAbort);
    }
  }

  async create(_: Resource, object: KubernetesObject, signal?: AbortSignal) {
    await this.#enter('create', signal);
    if (this.#objects.has(textOf(keyOf(object)))) throw refusal(409, 'AlreadyExists');
    return this.put(object);
  }

  async update(_: Resource, object: KubernetesObject, signal?: AbortSignal) {
    await this.#enter('update', signal);
    const live = this.#existing(keyOf(object));
    const { resourceVersion } = object.metadata;
    if (resourceVersion !== live.metadata.resourceVersion) throw refusal(409, 'Conflict');
    return this.put(object);
  }

  /** Merge patch of the object, its metadata and annotations; JSON patch of `test` and `add`. */
  async patch({ key }: { key: ObjectKey }, patch: unknown, options: PatchOptions) {
    this.patches.push({ name: key.name, patch, options });
    await this.#enter('patch', options.signal);
    const live = this.#existing(key);
    if (options.type === 'json') return this.put(jsonPatched(live, patch));
    const change = patch as KubernetesObject;
    const wanted = change.metadata?.resourceVersion;
    if (wanted !== undefined && wanted !== live.metadata.resourceVersion) {
      throw refusal(409, 'Conflict');
    }
    const uid = change.metadata?.uid;
    if (uid !== undefined && uid !== live.metadata.uid) throw refusal(409, 'Conflict');
    const metadata = { ...live.metadata, ...change.metadata, ...mergedAnnotations(live, change) };
    return this.put({ ...live, ...change, metadata });
  }

  async delete(_: Resource, key: ObjectKey, options: DeleteOptions = {}): Promise<void> {
    await this.#enter('delete', options.signal);
    const { uid, resourceVersion } = this.#existing(key).metadata;
    const wanted = { uid, resourceVersion, ...options };
    if (wanted.uid !== uid || wanted.resourceVersion !== resourceVersion) {
      throw refusal(409, 'Conflict');
    }
    this.drop(key);
  }

  /** It has no permissions to tell apart, and no connections. */
  impersonate: KubeClient['impersonate'] = () => this;
  ofCreator: KubeClient['ofCreator'] = () => this;
  reserved: KubeClient['reserved'] = () => this;

  apply: KubeClient['apply'] = unsupported;
  request: KubeClient['request'] = unsupported;

  async #enter(call: Call, signal?: AbortSignal): Promise<void> {
    this.calls.push(call);
    signal?.throwIfAborted();
    await this.beforeCall(call, signal);
    const fault = this.faults[call]?.shift();
    if (fault !== undefined) throw fault;
  }

  #existing(key: ObjectKey): KubernetesObject {
    const object = this.#objects.get(textOf(key));
    if (object === undefined) {
      throw new ApiError(404, { reason: 'NotFound', details: { name: key.name } });
    }
    return object;
  }

  #stamp(object: KubernetesObject, uid: string | undefined): KubernetesObject {
    this.#version += 1;
    const resourceVersion = String(this.#version);
    const metadata = { ...object.metadata, ...(uid && { uid }), resourceVersion };
    return structuredClone({ ...object, metadata });
  }

  #tell(event: WatchEvent): void {
    const logged = { version: this.#version, event };
    this.#log.push(logged);
    this.#deliver(logged);
  }

  #deliver(logged: LoggedEvent): void {
    for (const watch of this.#watches) {
      if (watch.isSilent === true) continue;
      watch.queue.push(logged);
      watch.wake();
    }
  }
}

function textOf({ namespace = '', name }: ObjectKey): string {
  return `${namespace}/${name}`;
}

async function unsupported(): Promise<never> {
  throw new Error('not part of this fake');
}

function mergedAnnotations(
  live: KubernetesObject,
  { metadata }: Partial<KubernetesObject>,
): object {
  if (metadata?.annotations === undefined) return {};
  const merged: object = { ...live.metadata.annotations, ...metadata.annotations };
  const annotations = Object.entries(merged).filter(([, value]) => value !== null);
  return { annotations: Object.fromEntries(annotations) };
}
