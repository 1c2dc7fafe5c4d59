import type { KubernetesObject } from '../../../../api/meta.ts';
import type { Logger } from '../../../contracts/logger.ts';
import type { Clock } from '../../clock.ts';
import {
  formatKey,
  type KubeClient,
  type ObjectKey,
  Reflector,
  type Resource,
} from '../../kube/index.ts';
import { IndexedCache } from '../indexed-cache.ts';
import { Controller } from './controller.ts';
import type { ReconcileContext } from './controller-options.ts';

interface ObjectControllerOptions {
  /** Name of the controller in log lines. */
  readonly name: string;
  readonly client: Pick<KubeClient, 'list' | 'watch'>;
  readonly resource: Resource;
  readonly key: ObjectKey;
  /** Milliseconds between two reconciles without any change. */
  readonly resync: number;
  /** Receives the watched object; undefined if it does not exist. */
  readonly reconcile: (object: KubernetesObject | undefined, signal: AbortSignal) => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Maximum milliseconds between two retries: a failure here stops a whole process from working. */
const longestRetry = 60_000;

/** Reconciles one object: at every change of it, and every `resync` milliseconds. */
export class ObjectController {
  readonly #key: string;
  readonly #reflector: Reflector;
  readonly #controller: Controller;

  constructor(options: ObjectControllerOptions) {
    const { name, client, resource, key, clock, logger } = options;
    const cache = new IndexedCache();
    this.#key = formatKey(key);
    this.#reflector = new Reflector({
      client,
      resource,
      namespace: key.namespace,
      fieldSelector: `metadata.name=${key.name}`,
      sink: cache,
      clock,
      logger,
    });
    this.#controller = new Controller({
      name,
      kind: resource.kind,
      workers: 1,
      clock,
      logger,
      reconcile: (_, context) => reconcile(options, cache.get(key), context),
    });
    cache.onChange(() => this.enqueue());
  }

  /** Reconciles again, after the object has been read. */
  enqueue(): void {
    this.#controller.enqueue(this.#key);
  }

  /** Runs until the signal is aborted. Never rejects. */
  async run(signal: AbortSignal, lost?: AbortSignal): Promise<void> {
    const watching = this.#reflector.run(signal);
    await this.#reflector.whenSynced(signal).catch(() => undefined);
    this.enqueue();
    await Promise.all([watching, this.#controller.run(signal, lost)]);
  }
}

async function reconcile(
  { reconcile: work, resync }: ObjectControllerOptions,
  object: KubernetesObject | undefined,
  { signal, stopping, wakeAfter }: ReconcileContext,
): Promise<{ readonly requeueAfter: number }> {
  try {
    await work(object, AbortSignal.any([signal, stopping]));
  } catch (error) {
    wakeAfter(longestRetry);
    throw error;
  }
  return { requeueAfter: resync };
}
