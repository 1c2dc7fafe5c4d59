import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { clientOf } from '../../apply/index.ts';
import type { InputReference } from '../../contracts/provisioner.ts';
import { errorMessage } from '../../errors.ts';
import {
  createConfigMapReader,
  createSecretReader,
  type KubeClient,
} from '../../platform/kube/index.ts';

type Content = ReadonlyMap<string, Uint8Array>;

export interface ReadInputsOptions {
  readonly client: KubeClient;
  readonly systemNamespace: string;
}

/**
 * The values that a class asks for, read with the permissions that the deployment has: what it may
 * not read does not come into its objects.
 * @throws Error that names the first object or key that is missing or refused.
 */
export async function readInputs(
  { deployment, references }: Inputs,
  options: ReadInputsOptions,
  signal: AbortSignal,
): Promise<readonly (Uint8Array | undefined)[]> {
  const client = clientOf(deployment, options.client);
  const reads = new Map<string, Promise<Content | undefined>>();
  const contentOf = (reference: InputReference): Promise<Content | undefined> => {
    const name = nameOf(reference);
    const read = reads.get(name) ?? contentIn(reference, { ...options, client }, signal);
    reads.set(name, read);
    return read;
  };
  return await Promise.all(
    references.map(async (reference) => {
      const value = await valueOf(reference, contentOf);
      if (value === undefined && reference.optional !== true) {
        throw missing(reference, options.systemNamespace);
      }
      return value;
    }),
  );
}

export interface Inputs {
  readonly deployment: BundleDeployment;
  readonly references: readonly InputReference[];
}

async function valueOf(
  reference: InputReference,
  contentOf: (reference: InputReference) => Promise<Content | undefined>,
): Promise<Uint8Array | undefined> {
  try {
    return (await contentOf(reference))?.get(reference.key);
  } catch (error) {
    throw new Error(`cannot read ${nameOf(reference)}: ${errorMessage(error)}`, { cause: error });
  }
}

async function contentIn(
  { kind, name }: InputReference,
  { client, systemNamespace }: ReadInputsOptions,
  signal: AbortSignal,
): Promise<Content | undefined> {
  if (kind === 'ConfigMap') {
    return await createConfigMapReader(client, systemNamespace).read(name, signal);
  }
  return (await createSecretReader(client, systemNamespace).read(name, signal))?.data;
}

function missing(reference: InputReference, namespace: string): Error {
  const { key } = reference;
  return new Error(
    `spec.config asks for key "${key}" of ${nameOf(reference)} in namespace "${namespace}", which is not there: create it, or mark it as optional`,
  );
}

function nameOf({ kind, name }: InputReference): string {
  return `${kind} "${name}"`;
}
