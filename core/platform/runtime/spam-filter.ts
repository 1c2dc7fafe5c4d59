import type { KubernetesObject } from '../../../api/meta.ts';
import type { Clock } from '../clock.ts';
import { BoundedMap } from './bounded-map.ts';

/** As in client-go: a burst of 25 events of one object, then one every five minutes. */
const burst = 25;
const refillEvery = 300_000;
const rememberedObjects = 4096;

interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

/** Keeps one object from flooding the cluster with events. */
export class SpamFilter {
  readonly #clock: Clock;
  readonly #buckets = new BoundedMap<string, Bucket>(rememberedObjects);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether one more event of the object may be written now; counts it. */
  allows({ kind, metadata }: KubernetesObject): boolean {
    const key = metadata.uid ?? `${kind}/${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
    const now = this.#clock.monotonic();
    const { tokens, at } = this.#buckets.get(key) ?? { tokens: burst, at: now };
    const filled = Math.min(burst, tokens + (now - at) / refillEvery);
    if (filled < 1) return false;
    this.#buckets.set(key, { tokens: filled - 1, at: now });
    return true;
  }
}
