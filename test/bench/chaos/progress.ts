import type { Bundle } from '../../../api/v1alpha1/index.ts';
import { bundleResource } from '../../../api/v1alpha1/resources.ts';
import { systemClock } from '../../../core/platform/clock.ts';
import { type KubeClient, Reflector } from '../../../core/platform/kube/index.ts';
import { silentLogger } from '../../helpers/silent-logger.ts';
import type { AppWatch } from '../scale/app-watch.ts';

/** Share of an installation that is done: unpacking counts half, applying half. */
export class Progress implements AsyncDisposable {
  readonly #apps: AppWatch;
  readonly #count: number;
  readonly #unpacked = new Set<string>();
  readonly #life = new AbortController();
  #running: Promise<void> = Promise.resolve();

  private constructor(apps: AppWatch, count: number) {
    this.#apps = apps;
    this.#count = count;
  }

  static async start(client: KubeClient, apps: AppWatch, count: number): Promise<Progress> {
    const progress = new Progress(apps, count);
    const { signal } = progress.#life;
    const take = (bundle: Bundle): void => progress.#take(bundle);
    const reflector = new Reflector<Bundle>({
      client,
      resource: bundleResource,
      sink: { replace: (items) => items.forEach(take), upsert: take, remove: () => undefined },
      clock: systemClock,
      logger: silentLogger,
    });
    progress.#running = reflector.run(signal);
    await reflector.whenSynced(signal);
    return progress;
  }

  /** From 0 to 1. */
  get share(): number {
    return (this.#unpacked.size + this.#apps.reached(1, 'healthy').length) / (2 * this.#count);
  }

  async until(share: number, signal: AbortSignal): Promise<void> {
    while (this.share < share) {
      await systemClock.sleep(5, signal);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#life.abort(new Error('the progress is over'));
    await this.#running;
  }

  #take({ metadata, status }: Bundle): void {
    if (status?.phase === 'Unpacked') this.#unpacked.add(metadata.name ?? '');
  }
}
