import type { KubernetesObject } from '../../../api/meta.ts';
import type { Clock } from '../clock.ts';
import { ApiError } from './api-error.ts';
import type { WatchEvent } from './kube-client.ts';

/** Of the bookmark after the last object that was there when the watch began. */
const endAnnotation = 'k8s.io/initial-events-end';

/** How long a server that streams its lists may take between two objects of one (milliseconds). */
const longestSilence = 10_000;

/** The server takes the parameter for nothing, or refuses it: lists have to do. */
class StreamingUnsupported extends Error {}

/** Gathers what a watch sends first, where the server streams its list that way (KEP-3157). */
export class InitialEvents<T> {
  readonly #transform: (object: KubernetesObject) => T;
  readonly #items = new Map<string, T>();
  #ended = false;

  constructor(transform: (object: KubernetesObject) => T) {
    this.#transform = transform;
  }

  /** Aborts a watch that sends nothing for a while: a server that does not know of initial events. */
  async expect(watch: AbortController, clock: Clock): Promise<void> {
    while (!watch.signal.aborted && !this.#ended) {
      const before = this.#items.size;
      await clock.sleep(longestSilence, watch.signal).catch(() => undefined);
      if (this.#ended || this.#items.size > before) continue;
      watch.abort(new StreamingUnsupported('the server sends no initial events'));
    }
  }

  /**
   * Takes one event; the whole list at the last one.
   * @throws StreamingUnsupported at a bookmark of another kind.
   */
  take({ type, object }: WatchEvent): readonly T[] | undefined {
    const { namespace = '', name = '', annotations } = object.metadata;
    const key = `${namespace}/${name}`;
    if (type === 'ADDED' || type === 'MODIFIED') this.#items.set(key, this.#transform(object));
    if (type === 'DELETED') this.#items.delete(key);
    if (type !== 'BOOKMARK') return undefined;
    this.#ended = annotations?.[endAnnotation] === 'true';
    if (this.#ended) return [...this.#items.values()];
    throw new StreamingUnsupported('the server sends no initial events');
  }
}

/** True for the refusal of a server that does not know or does not allow initial events. */
export function refusesInitialEvents(error: unknown): boolean {
  if (error instanceof StreamingUnsupported) return true;
  return error instanceof ApiError && (error.code === 400 || error.code === 422);
}
