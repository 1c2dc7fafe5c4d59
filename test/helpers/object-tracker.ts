import type { KubernetesObject } from '../../api/meta.ts';
import type { ObjectClient, ObjectFollower, ObjectKey } from '../../webhooks/index.ts';

class Refused extends Error {
  readonly code: number;
  constructor(code: number) {
    super(`refused with ${code}`);
    this.code = code;
  }
}

/** Objects in memory, by name, with optimistic concurrency and watches as the API server has them. */
export class ObjectTracker implements ObjectClient, ObjectFollower {
  /** Every request but watches, in order. */
  readonly requests: string[] = [];
  /** Runs before each write; to let another client be quicker. */
  beforeWrite: () => void = () => undefined;
  readonly #objects = new Map<string, KubernetesObject>();
  readonly #followers = new Set<() => void>();
  #version = 0;

  peek(name: string): KubernetesObject | undefined {
    return this.#objects.get(name);
  }

  /** Puts an object in place as another client would. */
  put(name: string, object: KubernetesObject): KubernetesObject {
    this.#version += 1;
    const metadata = { ...object.metadata, resourceVersion: String(this.#version) };
    const stored = structuredClone({ ...object, metadata });
    this.#objects.set(name, stored);
    this.#tell();
    return stored;
  }

  remove(name: string): void {
    this.#objects.delete(name);
    this.#tell();
  }

  async get(_resource: unknown, key: ObjectKey): Promise<KubernetesObject> {
    this.requests.push('get');
    return this.#existing(key.name);
  }

  async create(_resource: unknown, object: KubernetesObject): Promise<KubernetesObject> {
    this.requests.push('create');
    this.beforeWrite();
    const name = object.metadata.name ?? '';
    if (this.#objects.has(name)) throw new Refused(409);
    return this.put(name, object);
  }

  async update(_resource: unknown, object: KubernetesObject): Promise<KubernetesObject> {
    this.requests.push('update');
    this.beforeWrite();
    const { metadata } = object;
    const live = this.#existing(metadata.name ?? '');
    if (live.metadata.resourceVersion !== metadata.resourceVersion) throw new Refused(409);
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
      if (parent === undefined || (op === 'test' && parent[last] !== value)) throw new Refused(422);
      if (op === 'add') parent[last] = value;
    }
    return this.put(key.name, object);
  }

  async follow(
    { key }: { readonly key: ObjectKey },
    onChange: (object: KubernetesObject | undefined) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const tell = () => onChange(this.#objects.get(key.name));
    tell();
    this.#followers.add(tell);
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    this.#followers.delete(tell);
  }

  #existing(name: string): KubernetesObject {
    const object = this.#objects.get(name);
    if (object === undefined) throw new Refused(404);
    return object;
  }

  #tell(): void {
    for (const tell of this.#followers) tell();
  }
}
