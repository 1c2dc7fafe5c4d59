import { createHmac, randomBytes } from 'node:crypto';
import {
  createSecretReader,
  isAlreadyExists,
  type KubeClient,
  secretResource,
} from '../../platform/kube/index.ts';

/** In the system namespace. Whoever has it can tell what random values charts were given. */
const secretName = 'rukpak-seed';
const secretKey = 'seed';
const seedBytes = 32;

interface DeploymentSeedsOptions {
  readonly client: Pick<KubeClient, 'get' | 'create'>;
  readonly systemNamespace: string;
}

interface DeploymentSeed {
  readonly seed: Uint8Array;
  /** Of the Secret, for all deployments the same; tells nothing of the seed. */
  readonly seedIdentity: string;
}

/**
 * Seeds by a deployment's name, from a Secret that is made when the first one is asked for: the
 * same as long as that Secret is there, also for a deployment that is deleted and made again.
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

  /** Has the Secret read again: it may have been restored. */
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
      `Secret "${secretName}" in namespace "${systemNamespace}" must have ${seedBytes} bytes under key "${secretKey}": restore it, or delete it and random values of charts change`,
    );
  }

  /** Of several processes that begin at once one makes it, and the others take that one. */
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
