import { createHmac } from 'node:crypto';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { installNamespaceOf } from '../../../api/v1alpha1/rules/install-namespace.ts';
import type { Logger } from '../../contracts/logger.ts';
import type {
  ClusterFacts,
  DeploymentContext,
  InputReference,
  Provisioner,
  ProvisionerContext,
} from '../../contracts/provisioner.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Discovery, KubeClient, ServedApis } from '../../platform/kube/index.ts';
import { ClusterFactsReader } from './cluster-facts.ts';
import { DeploymentSeeds } from './deployment-seed.ts';
import { InputReferences, type Inputs } from './input-references.ts';
import { InputWatch, readInputs } from './inputs.ts';

interface RenderFactsOptions {
  readonly client: KubeClient;
  readonly discovery: ServedApis & Pick<Discovery, 'invalidate'>;
  readonly systemNamespace: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborted when the process ends. */
  readonly signal: AbortSignal;
}

/** The classes that render a deployment. */
export interface RenderingClasses {
  readonly deployment: Provisioner;
  /** Set only when it has a `configure` handler. */
  readonly bundle?: Provisioner;
}

/** The inputs of rendering besides the content and the deployment. */
export interface Facts extends Pick<DeploymentContext, 'inputs' | 'cluster' | 'seed'> {
  /**
   * Differs whenever the value of an input differs. Includes Secrets only with a seed, which hides
   * them.
   */
  readonly inputsDigest?: string;
  /** What the class named the inputs by, in their order; undefined without any. */
  readonly references?: readonly InputReference[];
  /** Distinguishes seeds, and reveals nothing about them. */
  readonly seedIdentity?: string;
}

/** Each class receives only the facts that it declares itself, because a seed is a secret. */
export function factsFor(
  { uses = [] }: Provisioner,
  context: DeploymentContext,
): DeploymentContext {
  const {
    cluster,
    seed,
    inputsDigest: _,
    seedIdentity: __,
    references: ___,
    ...rest
  }: DeploymentContext & Facts = context;
  return {
    ...rest,
    ...(cluster !== undefined && uses.includes('cluster') ? { cluster } : {}),
    ...(seed !== undefined && uses.includes('seed') ? { seed } : {}),
  };
}

/** The version of facts, known before they are read. */
export interface PreparedFacts {
  /** Differs whenever the facts may differ; undefined when it is unknown. */
  readonly version: string | undefined;
  /** @throws Error that names the missing or forbidden input. */
  read(): Promise<Facts>;
}

/** Milliseconds for which facts about the cluster count: no event tells of new kinds. */
const maxAge = 60_000;

const none: PreparedFacts = { version: '', read: async () => ({ inputs: [] }) };

/**
 * Collects the facts that classes declare with `inputs` and `uses`; sends no requests for other
 * facts.
 */
export class RenderFacts {
  readonly #options: RenderFactsOptions;
  readonly #cluster: ClusterFactsReader;
  readonly #seeds: DeploymentSeeds;
  readonly #references = new InputReferences();
  readonly #watch: InputWatch;
  /** Names of deployments whose objects may depend on the cluster. */
  readonly #usingCluster = new Set<string>();
  /** Monotonic milliseconds when discovery was last asked for. */
  #renewedAt: number;

  constructor(options: RenderFactsOptions) {
    this.#options = options;
    this.#renewedAt = options.clock.monotonic();
    this.#cluster = new ClusterFactsReader(options);
    this.#seeds = new DeploymentSeeds(options);
    this.#watch = new InputWatch(options);
  }

  /** Inputs belong to the deployment's class; the other facts are those that either class uses. */
  async prepare(
    deployment: BundleDeployment,
    { deployment: own, bundle: ofBundle }: RenderingClasses,
    context: ProvisionerContext,
  ): Promise<PreparedFacts> {
    if ([own.inputs, own.uses, ofBundle?.uses].every((each) => each === undefined)) return none;
    const named = await this.#references.of(deployment, own, context);
    // Not earlier: a class over HTTP declares its uses only at the first call.
    const uses = [...(own.uses ?? []), ...(ofBundle?.uses ?? [])];
    const usesCluster = uses.includes('cluster');
    this.#note(deployment, usesCluster);
    if (usesCluster) this.#renewOld();
    const cluster = usesCluster ? await this.#cluster.read(context.signal) : undefined;
    const seed = uses.includes('seed') ? await this.#seedOf(deployment, context) : {};
    return {
      version: this.#versionOf(named.references, [cluster?.digest, seed.seedIdentity]),
      read: async () => {
        const references = named.areRemembered
          ? await this.#references.ask(deployment, own, context)
          : named.references;
        return {
          ...(await this.#inputsOf({ deployment, references }, seed, context)),
          ...(cluster === undefined ? {} : { cluster: this.#placed(cluster.facts, deployment) }),
          ...seed,
        };
      },
    };
  }

  /** Reads discovery and the seed again when a class next uses them. */
  renew(): void {
    this.#seeds.renew();
    this.#invalidate();
  }

  #invalidate(): void {
    this.#renewedAt = this.#options.clock.monotonic();
    this.#options.discovery.invalidate();
  }

  #renewOld(): void {
    if (this.#options.clock.monotonic() - this.#renewedAt >= maxAge) this.#invalidate();
  }

  /** Calls back with the names of deployments whose inputs or proxies have changed. */
  onChange(listener: (deploymentName: string) => void): void {
    this.#watch.onChange((kind, name) => {
      for (const deployment of this.#references.askingFor({ kind, name })) listener(deployment);
    });
    this.#cluster.onChange(() => {
      for (const deployment of this.#usingCluster) listener(deployment);
    });
  }

  forget(deploymentName: string): void {
    this.#references.forget(deploymentName);
    this.#usingCluster.delete(deploymentName);
  }

  /** The namespace of the deployment's objects, even when core itself runs elsewhere. */
  #placed(facts: ClusterFacts, deployment: BundleDeployment): ClusterFacts {
    const systemNamespace = installNamespaceOf(deployment, facts.systemNamespace);
    return { ...facts, systemNamespace };
  }

  #note({ metadata: { name = '' } }: BundleDeployment, usesCluster: boolean): void {
    if (usesCluster) this.#usingCluster.add(name);
    else this.#usingCluster.delete(name);
  }

  #versionOf(
    references: readonly InputReference[],
    digests: readonly (string | undefined)[],
  ): string | undefined {
    const versions = references.map((reference) => this.#watch.versionOf(reference));
    if (versions.includes(undefined)) return undefined;
    return JSON.stringify([...digests, references, versions]);
  }

  async #inputsOf(
    request: Inputs,
    { seed }: Pick<Facts, 'seed'>,
    { signal }: ProvisionerContext,
  ): Promise<Pick<Facts, 'inputs' | 'inputsDigest' | 'references'>> {
    const inputs = await readInputs(request, this.#options, signal);
    if (inputs.length === 0) return { inputs };
    const hmac = createHmac('sha256', seed ?? '');
    for (const [index, { kind }] of request.references.entries()) {
      const value = kind === 'Secret' && seed === undefined ? undefined : inputs[index];
      hmac.update(
        JSON.stringify(value === undefined ? null : Buffer.from(value).toString('base64')),
      );
    }
    const { references } = request;
    return { inputs, inputsDigest: hmac.digest('base64url'), references };
  }

  async #seedOf(
    { metadata }: BundleDeployment,
    { signal }: ProvisionerContext,
  ): Promise<Pick<Facts, 'seed' | 'seedIdentity'>> {
    return await this.#seeds.seedOf(metadata.name ?? '', signal);
  }
}
