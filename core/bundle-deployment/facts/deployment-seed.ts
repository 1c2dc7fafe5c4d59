import { createHmac, randomBytes } from 'node:crypto';
import {
  createSecretReader,
  isAlreadyExists,
  type KubeClient,
  secretResource,
} from '../../platform/kube/index.ts';

/**
 * Name of the Secret in the system namespace. With it, the random values of charts can be computed.
 */
const secretName = 'rukpak-seed';
const secretKey = 'seed';
const seedBytes = 32;

interface DeploymentSeedsOptions {
  readonly client: Pick<KubeClient, 'get' | 'create'>;
  readonly systemNamespace: string;
}

interface DeploymentSeed {
  readonly seed: Uint8Array;
  /** Identity of the Secret, the same for all deployments; reveals nothing about the seed. */
  readonly seedIdentity: string;
}

/**
 * Seeds by a deployment's name, from a Secret that core creates at the first use: the same as long
 * as the Secret exists, also for a recreated deployment.
 */
export class DeploymentSeeds {
  readonly #options: DeploymentSeedsOptions;
  #key: Uint8Array | undefined;

  constructor(options: DeploymentSeedsOptions) {
    this.#options = options;
  }

  async seedOf(deploymentName: string, signal: AbortSignal): Promise<DeploymentSeed> {
    this.#key ??= (await this.#read(signal)) ?? (await this.#create(signal));
    return {
      seed: createHmac('sha256', this.#key).update(`BundleDeployment/${deploymentName}`).digest(),
      seedIdentity: createHmac('sha256', this.#key).update('identity').digest('hex').slice(0, 16),
    };
  }

  /** Reads the Secret again at the next use: it may have been restored. */
  renew(): void {
    this.#key = undefined;
  }

  async #read(signal: AbortSignal): Promise<Uint8Array | undefined> {
    const { client, systemNamespace } = this.#options;
    const secret = await createSecretReader(client, systemNamespace).read(secretName, signal);
    if (secret === undefined) return undefined;
    const key = secret.data.get(secretKey);
    if (key?.byteLength === seedBytes) return key;
    throw new Error(
      `Secret "${secretName}" in namespace "${systemNamespace}" must have ${seedBytes} bytes under key "${secretKey}": restore it from a backup. If you delete it, core creates another one, and charts with generated values wait until you accept new values`,
    );
  }

  /** Of several processes that start together one creates the Secret, and the others use it. */
  async #create(signal: AbortSignal): Promise<Uint8Array> {
    const { client, systemNamespace: namespace } = this.#options;
    const key = randomBytes(seedBytes);
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: secretName, namespace },
      immutable: true,
      data: { [secretKey]: key.toString('base64') },
    };
    try {
      await client.create(secretResource, secret, signal);
      return key;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const theirs = await this.#read(signal);
      if (theirs === undefined) throw error;
      return theirs;
    }
  }
}
