import { createHmac } from 'node:crypto';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { installNamespaceOf } from '../../../api/v1alpha1/install-namespace.ts';
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
import { InputReferences, type Inputs, InputWatch, readInputs } from './inputs.ts';

interface RenderFactsOptions {
  readonly client: KubeClient;
  readonly discovery: ServedApis & Pick<Discovery, 'invalidate'>;
  readonly systemNamespace: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The life of the process. */
  readonly signal: AbortSignal;
}

/** The classes that make objects of content. */
export interface RenderingClasses {
  readonly deployment: Provisioner;
  /** Only where it has a `configure`. */
  readonly bundle?: Provisioner;
}

/** What a deployment is rendered with besides its content and itself. */
export interface Facts extends Pick<DeploymentContext, 'inputs' | 'cluster' | 'seed'> {
  /** Another one where an input has another value. Secrets count only where a seed hides them. */
  readonly inputsDigest?: string;
  /** Tells one seed from another, and nothing of it. */
  readonly seedIdentity?: string;
}

/** Facts that are known to be the ones of a version before they are read. */
export interface PreparedFacts {
  /** Another one wherever the facts may be others; undefined where nobody can tell. */
  readonly version: string | undefined;
  /** @throws Error that names the input that is missing or refused. */
  read(): Promise<Facts>;
}

const none: PreparedFacts = { version: '', read: async () => ({ inputs: [] }) };

/** Gathers what classes ask for by `inputs` and `uses`: of others nothing is asked of the cluster. */
export class RenderFacts {
  readonly #options: RenderFactsOptions;
  readonly #cluster: ClusterFactsReader;
  readonly #seeds: DeploymentSeeds;
  readonly #references = new InputReferences();
  readonly #watch: InputWatch;
  /** Names of deployments whose objects may depend on the cluster. */
  readonly #usingCluster = new Set<string>();

  constructor(options: RenderFactsOptions) {
    this.#options = options;
    this.#cluster = new ClusterFactsReader(options);
    this.#seeds = new DeploymentSeeds(options);
    this.#watch = new InputWatch(options);
  }

  /** Inputs are those of the deployment's class; the rest is what either of the classes uses. */
  async prepare(
    deployment: BundleDeployment,
    { deployment: own, bundle: ofBundle }: RenderingClasses,
    context: ProvisionerContext,
  ): Promise<PreparedFacts> {
    if ([own.inputs, own.uses, ofBundle?.uses].every((each) => each === undefined)) return none;
    const references = await this.#references.of(deployment, own, context);
    // After that: a class behind a URL says what it uses when it is asked for the first time.
    const uses = [...(own.uses ?? []), ...(ofBundle?.uses ?? [])];
    const usesCluster = uses.includes('cluster');
    this.#note(deployment, usesCluster);
    const cluster = usesCluster ? await this.#cluster.read(context.signal) : undefined;
    const seed = uses.includes('seed') ? await this.#seedOf(deployment, context) : {};
    return {
      version: this.#versionOf(references, [cluster?.digest, seed.seedIdentity]),
      read: async () => ({
        ...(await this.#inputsOf({ deployment, references }, seed, context)),
        ...(cluster === undefined ? {} : { cluster: this.#placed(cluster.facts, deployment) }),
        ...seed,
      }),
    };
  }

  /** Has what the cluster serves, and the seed, read anew when a class is to know it. */
  renew(): void {
    this.#seeds.renew();
    this.#options.discovery.invalidate();
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

  /** A class renders for where its objects go, wherever the system runs by now. */
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
    return versions.includes(undefined) ? undefined : JSON.stringify([...digests, ...versions]);
  }

  async #inputsOf(
    request: Inputs,
    { seed }: Pick<Facts, 'seed'>,
    { signal }: ProvisionerContext,
  ): Promise<Pick<Facts, 'inputs' | 'inputsDigest'>> {
    const inputs = await readInputs(request, this.#options, signal);
    if (inputs.length === 0) return { inputs };
    const hmac = createHmac('sha256', seed ?? '');
    for (const [index, { kind }] of request.references.entries()) {
      const value = kind === 'Secret' && seed === undefined ? undefined : inputs[index];
      hmac.update(
        JSON.stringify(value === undefined ? null : Buffer.from(value).toString('base64')),
      );
    }
    return { inputs, inputsDigest: hmac.digest('base64url') };
  }

  async #seedOf(
    { metadata }: BundleDeployment,
    { signal }: ProvisionerContext,
  ): Promise<Pick<Facts, 'seed' | 'seedIdentity'>> {
    return await this.#seeds.seedOf(metadata.name ?? '', signal);
  }
}
