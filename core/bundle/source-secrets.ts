import type { Bundle, BundleSource } from '../../api/v1alpha1/bundle.ts';
import type { ServiceAccountRef } from '../../api/v1alpha1/deployment-policies.ts';
import { annotation } from '../../api/v1alpha1/labels.ts';
import type { SecretContent, SecretReader, SourceServer } from '../contracts/source.ts';
import { errorMessage } from '../errors.ts';
import { ApiError } from '../platform/kube/index.ts';
import { matchesHost } from '../registry/index.ts';
import type { SourceTypes } from './pin.ts';

interface SourceSecretsOptions {
  readonly sources: SourceTypes;
  /** Of the system namespace. */
  readonly system: SecretReader;
  /** Of a ServiceAccount's namespace, with its rights. */
  readonly as: (account: ServiceAccountRef) => SecretReader;
  /** The ServiceAccount of the deployment that a Bundle was made for. */
  readonly accountOf: (bundle: Bundle) => ServiceAccountRef | undefined;
  /** Whether a Secret that names no hosts may be shown to any. */
  readonly allowUnscoped: boolean;
}

/**
 * Which Secrets a Bundle's source may read, and show to its host: who names a Secret in a spec need
 * not be allowed to read it, and must not learn it from a server of their own (ADR 38).
 */
export class SourceSecrets {
  readonly #options: SourceSecretsOptions;

  constructor(options: SourceSecretsOptions) {
    this.#options = options;
  }

  /** With whose rights the Secret of a Bundle's source is read; empty for core's, or without Secret. */
  identityOf(bundle: Bundle): string {
    const { sources, accountOf } = this.#options;
    const { source } = bundle.spec;
    const type = sources.get(source.type);
    const readsSecrets = type?.secret === undefined || type.secret(source);
    const account = readsSecrets && accountOf(bundle);
    return account ? `${account.namespace}/${account.name}` : '';
  }

  /** What the source of a Bundle is given to read Secrets with. */
  of(bundle: Bundle): SecretReader {
    const { system, as, accountOf, sources } = this.#options;
    const { source } = bundle.spec;
    const account = accountOf(bundle);
    const reader = account === undefined ? system : as(account);
    return {
      place: reader.place,
      read: async (name, signal) => {
        const secret = await read(() => reader.read(name, signal), name, account);
        if (sources.get(source.type)?.secretsListHosts) return secret;
        const { place = 'the system namespace' } = reader;
        if (secret === undefined && account === undefined) return undefined;
        if (secret === undefined) throw new Error(`Secret "${name}" not found in ${place}`);
        this.#checkHost(secret, { name, place, hosts: credentialHosts(source, sources) });
        return secret;
      },
    };
  }

  #checkHost(
    { hosts }: SecretContent,
    {
      name,
      place,
      hosts: names,
    }: { readonly name: string; readonly place: string; readonly hosts: readonly string[] },
  ): void {
    if (hosts === undefined && this.#options.allowUnscoped) return;
    if (hosts?.some((host) => names.some((own) => matchesHost(host, own)))) return;
    const [host = ''] = names;
    const problem = hosts === undefined ? 'names no hosts' : `is not for host "${host}"`;
    throw new Error(
      `Secret "${name}" of ${place} ${problem}: to show it to "${host}", add that to its annotation ${annotation.sourceHosts}, a list such as "${host},*.example.com:8443"`,
    );
  }
}

async function read(
  get: () => Promise<SecretContent | undefined>,
  name: string,
  account: ServiceAccountRef | undefined,
): Promise<SecretContent | undefined> {
  try {
    return await get();
  } catch (error) {
    const isForbidden = error instanceof ApiError && error.code === 403;
    if (account === undefined || !isForbidden) throw error;
    throw new Error(
      `Secret "${name}" cannot be read with the rights of ServiceAccount ${account.namespace}/${account.name}, which spec.serviceAccount of the BundleDeployment names: allow the account to get it (${errorMessage(error)})`,
      { cause: error },
    );
  }
}

/** Which server a source is fetched from, without its port; for one of no server its type. */
export function sourceHost(source: BundleSource, sources: SourceTypes): string {
  return sources.get(source.type)?.host(source)?.hostname || source.type;
}

/**
 * The names of the server that a source shows its Secret to: `host:port`, and `host` where the port
 * is its protocol's own. None where there is no such server.
 */
function credentialHosts(source: BundleSource, sources: SourceTypes): readonly string[] {
  const server = sources.get(source.type)?.host(source);
  return server === undefined ? [] : namesOf(server);
}

const defaultPorts: Readonly<Record<string, string>> = {
  'http:': '80',
  'https:': '443',
  'ssh:': '22',
};

function namesOf({ protocol, hostname, port }: SourceServer): readonly string[] {
  const defaultPort = defaultPorts[protocol];
  const actual = port || defaultPort;
  if (actual === undefined) return [hostname];
  return actual === defaultPort ? [hostname, `${hostname}:${actual}`] : [`${hostname}:${actual}`];
}
