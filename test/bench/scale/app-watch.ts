import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/index.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { systemClock } from '../../../core/platform/clock.ts';
import { type KubeClient, Reflector } from '../../../core/platform/kube/index.ts';
import { conditionOf } from '../../helpers/kubectl.ts';
import { silentLogger } from '../../helpers/silent-logger.ts';

/** Times of one generation of an app, in milliseconds of `performance.now()`. */
interface Life {
  readonly generation: number;
  /** When the watch saw the generation. */
  readonly seen: number;
  /** The Bundle that was in use then; none in an app's first generation. */
  readonly former: string | undefined;
  installed?: number;
  healthy?: number;
}

/** Milliseconds from the generation to the wanted condition, and the time of that condition. */
export interface Reached {
  readonly took: number;
  readonly at: number;
}

/** Records for each app when its present generation was created, installed and healthy. */
export class AppWatch {
  readonly #lives = new Map<string, Life>();
  readonly #life = new AbortController();
  #changed = Promise.withResolvers<void>();

  static async start(client: KubeClient): Promise<AppWatch> {
    const watch = new AppWatch();
    const reflector = new Reflector({
      client,
      resource: bundleDeploymentResource,
      sink: {
        replace: (items) => items.forEach((item) => watch.#take(item)),
        upsert: (item) => watch.#take(item),
        remove: ({ metadata }) => {
          watch.#lives.delete(metadata.name ?? '');
          watch.#wake();
        },
      },
      clock: systemClock,
      logger: silentLogger,
    });
    void reflector.run(watch.#life.signal);
    await reflector.whenSynced(watch.#life.signal);
    return watch;
  }

  /** Of the apps of at least this generation, those that are Installed, or Healthy as well. */
  reached(generation: number, what: 'installed' | 'healthy'): readonly Reached[] {
    return [...this.#lives.values()]
      .filter((life) => life.generation >= generation)
      .flatMap(({ seen, [what]: at }) => (at === undefined ? [] : [{ took: at - seen, at }]));
  }

  get count(): number {
    return this.#lives.size;
  }

  /** Checks again at each change. */
  async until(done: () => boolean, signal: AbortSignal): Promise<void> {
    const stopped = Promise.withResolvers<never>();
    const stop = (): void => stopped.reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
    try {
      while (!done()) {
        signal.throwIfAborted();
        await Promise.race([this.#changed.promise, stopped.promise]);
      }
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  stop(): void {
    this.#life.abort(new Error('the watch is over'));
  }

  #take(object: KubernetesObject): void {
    const { metadata, status } = object as BundleDeployment;
    const { name = '', generation = 0 } = metadata;
    let life = this.#lives.get(name);
    if (life?.generation !== generation) {
      const former = life === undefined ? undefined : status?.activeBundle;
      life = { generation, seen: performance.now(), former };
      this.#lives.set(name, life);
    }
    note(object as BundleDeployment, life);
    this.#wake();
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

function note(deployment: BundleDeployment, life: Life): void {
  if (!isInstalled(deployment, life)) return;
  life.installed ??= performance.now();
  if (isTrue(deployment, 'Healthy')) life.healthy ??= performance.now();
}

/** Conditions may still be those of the generation before, the Bundle in use is not. */
function isInstalled(deployment: BundleDeployment, { former }: Life): boolean {
  const { metadata, status } = deployment;
  if (status?.observedGeneration !== metadata.generation) return false;
  if (status?.activeBundle === undefined || status.activeBundle === former) return false;
  return isTrue(deployment, 'Installed');
}

function isTrue(deployment: BundleDeployment, type: string): boolean {
  return conditionOf(deployment, type)?.status === 'True';
}
