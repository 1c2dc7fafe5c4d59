import type { KubernetesObject } from '../../../api/meta.ts';
import type { Logger } from '../../contracts/logger.ts';
import { errorMessage } from '../../errors.ts';
import { BoundedMap } from '../bounded-map.ts';
import { abortable, type Clock } from '../clock.ts';
import { type KubeClient, unlessNotFound } from '../kube/index.ts';
import {
  type EventText,
  eventKey,
  eventResource,
  newEvent,
  type ObjectEvent,
  repeatPatch,
} from './object-event.ts';
import { conditionMessage } from './status.ts';

interface EventRecorderOptions {
  readonly client: KubeClient;
  /** The reporting component, as `kubectl describe` shows it. */
  readonly component: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Pending {
  readonly regarding: KubernetesObject;
  readonly text: EventText;
}

const capacity = 1000;
const rememberedEvents = 4096;

/**
 * Records core/v1 Events about objects. A repeated Event increases the first one's count; an object
 * with too many Events is muted for a while. Never fails for the caller.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #queue: Pending[] = [];
  readonly #written = new BoundedMap<string, ObjectEvent>(rememberedEvents);
  readonly #spam: SpamFilter;
  #writing: Promise<void> | undefined;
  #dropped = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#spam = new SpamFilter(options.clock);
  }

  /** Queues the Event and returns at once; drops it when too many wait. */
  event(regarding: KubernetesObject, event: EventText): void {
    if (!this.#spam.allows(regarding)) return;
    const text = { ...event, message: conditionMessage(event.message) };
    if (this.#queue.length >= capacity) {
      if (this.#dropped++ === 0) this.#options.logger.warn({}, 'events are dropped: too many wait');
      return;
    }
    this.#queue.push({ regarding, text });
    this.#writing ??= this.#writeAll();
  }

  /** Resolves when all Events are written, or when the signal is aborted. */
  async flush(signal: AbortSignal): Promise<void> {
    if (this.#writing !== undefined) {
      await abortable(this.#writing, signal).catch(() => undefined);
    }
  }

  async #writeAll(): Promise<void> {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      try {
        await this.#write(next);
      } catch (error) {
        // Events are optional: a failed write must not delay the next one.
        const { reason } = next.text;
        const { kind, metadata } = next.regarding;
        const object = `${kind} ${metadata.name}`;
        this.#options.logger.warn(
          { object, reason, error: errorMessage(error) },
          'cannot write an event',
        );
      }
    }
    this.#dropped = 0;
    // Here, and not when the promise is settled: an event that comes meanwhile would not be written.
    this.#writing = undefined;
  }

  async #write({ regarding, text }: Pending): Promise<void> {
    const { client, component, clock } = this.#options;
    const key = eventKey(regarding, text);
    const repeated = await this.#repeat(this.#written.get(key));
    const fresh = newEvent({ regarding, text, component, now: clock.now() });
    const event = repeated ?? (await client.create(eventResource, fresh));
    this.#written.set(key, event);
  }

  /** The Event with one more occurrence; undefined when there is none, or no longer. */
  async #repeat(event: ObjectEvent | undefined): Promise<ObjectEvent | undefined> {
    if (event === undefined) return undefined;
    const { client, clock } = this.#options;
    const { namespace, name } = event.metadata;
    const target = { resource: eventResource, key: { namespace, name: name ?? '' } };
    const patch = repeatPatch(event, clock.now());
    return await unlessNotFound(client.patch(target, patch, { type: 'merge' }));
  }
}

/** As in client-go: a burst of 25 Events per object, then one every five minutes. */
const burst = 25;
const refillEvery = 300_000;
const rememberedObjects = 4096;

interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

/** Limits the Events of one object. */
class SpamFilter {
  readonly #clock: Clock;
  readonly #buckets = new BoundedMap<string, Bucket>(rememberedObjects);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether one more Event of the object may be written now; counts it. */
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
