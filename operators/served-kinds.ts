import { catalogResource } from '../api/catalogd/v1alpha1/index.ts';
import { clusterCatalogResource, clusterExtensionResource } from '../api/olm/v1/index.ts';
import { operatorResource } from '../api/operators/v1alpha1/index.ts';
import {
  aborted,
  type Clock,
  definitionResource,
  errorMessage,
  IndexedCache,
  isNotFound,
  type KubeClient,
  type Logger,
  Reflector,
  type Resource,
  type Runnable,
} from '../core/controller.ts';

/** The kinds of this family. */
export const operatorKinds: readonly Resource[] = [
  catalogResource,
  operatorResource,
  clusterCatalogResource,
  clusterExtensionResource,
];

interface ServedKindsOptions {
  readonly client: Pick<KubeClient, 'list' | 'watch'>;
  readonly resources: readonly Resource[];
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Milliseconds between two questions whether a kind is served, once all CRDs exist. */
const interval = 200;

/**
 * A part of the process that is ready when the API server serves all kinds: users may apply their
 * CRDs long after the process has started.
 */
export class ServedKinds implements Runnable {
  readonly name = 'CRDs';
  readonly #options: ServedKindsOptions;
  readonly #names: readonly string[];
  readonly #definitions = new IndexedCache();
  readonly #reflector: Reflector;
  readonly #served = Promise.withResolvers<void>();
  #isServed = false;
  #problem: string | undefined;

  constructor(options: ServedKindsOptions) {
    const { client, clock, logger, resources } = options;
    this.#options = options;
    this.#names = resources.map(({ plural, group }) => `${plural}.${group}`);
    this.#reflector = new Reflector({
      client,
      resource: definitionResource,
      metadataOnly: true,
      // A cluster has hundreds of CRDs, and only their names matter.
      transform: ({ apiVersion, kind, metadata: { name = '', resourceVersion = '' } }) => ({
        apiVersion,
        kind,
        metadata: { name, resourceVersion },
      }),
      sink: this.#definitions,
      clock,
      logger,
    });
  }

  /** @throws Error that says what is missing */
  check(): void {
    if (this.#isServed) return;
    const { lastError } = this.#reflector;
    if (lastError !== undefined) throw new Error(`cannot read CRDs: ${lastError.message}`);
    throw new Error(this.#problem ?? `waiting for CRD ${this.#missing().join(', ')}`);
  }

  async ready(): Promise<void> {
    await this.#served.promise;
  }

  async run(signal: AbortSignal): Promise<void> {
    const watching = new AbortController();
    const watch = this.#reflector.run(AbortSignal.any([signal, watching.signal]));
    await Promise.race([this.#untilComplete(signal), aborted(signal)]);
    watching.abort(new Error('the CRDs exist'));
    await watch;
    await this.#untilServed(signal);
    await aborted(signal);
  }

  #missing(): readonly string[] {
    return this.#names.filter((name) => this.#definitions.get({ name }) === undefined);
  }

  async #untilComplete(signal: AbortSignal): Promise<void> {
    const complete = Promise.withResolvers<void>();
    const look = (): void => {
      if (this.#missing().length === 0) complete.resolve();
    };
    const stop = this.#definitions.onChange(look);
    await this.#reflector.whenSynced(signal).catch(() => undefined);
    look();
    const crds = this.#missing();
    if (crds.length > 0) this.#options.logger.info({ crds }, 'waiting for CRDs');
    await complete.promise;
    stop();
  }

  async #untilServed(signal: AbortSignal): Promise<void> {
    for (const resource of this.#options.resources) {
      while (!signal.aborted && !(await this.#serves(resource, signal))) {
        await this.#options.clock.sleep(interval, signal).catch(() => undefined);
      }
    }
    if (signal.aborted) return;
    this.#isServed = true;
    this.#options.logger.info({}, 'the kinds of operators are served');
    this.#served.resolve();
  }

  async #serves(resource: Resource, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#options.client.list(resource, { limit: 1, metadataOnly: true, signal });
      return true;
    } catch (error) {
      const what = `the API server does not serve ${resource.plural}.${resource.group} yet`;
      this.#problem = isNotFound(error) ? what : errorMessage(error);
      return false;
    }
  }
}
