import type { Bundle, BundleSource } from '../../../api/v1alpha1/bundle.ts';
import type { ServiceAccountRef } from '../../../api/v1alpha1/deployment-policies.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import type { SecretContent, SecretReader, SourceServer } from '../../contracts/source.ts';
import { errorMessage, WaitingError } from '../../errors.ts';
import { isForbidden } from '../../platform/kube/index.ts';
import { matchesHost } from '../../registry/index.ts';
import type { SourceTypes } from './pin.ts';

/**
 * Who reads the Secrets of a Bundle's source: a ServiceAccount, core, or nobody as long as the
 * error holds.
 */
export type SourceReader = ServiceAccountRef | 'core' | WaitingError;

interface SourceSecretsOptions {
  readonly sources: SourceTypes;
  /** Reads Secrets of the system namespace. */
  readonly system: SecretReader;
  /** Reads Secrets of a ServiceAccount's namespace, with its permissions. */
  readonly as: (account: ServiceAccountRef) => SecretReader;
  readonly readerOf: (bundle: Bundle) => SourceReader;
  /** Allow sources to send a Secret without host annotation to any host. */
  readonly allowUnscoped: boolean;
}

/**
 * Decides which Secrets a Bundle's source may read and send to its host. A user who names a Secret
 * in a spec may lack permission to read it, and must not receive it with an own server (ADR 38).
 */
export class SourceSecrets {
  readonly #options: SourceSecretsOptions;

  constructor(options: SourceSecretsOptions) {
    this.#options = options;
  }

  /**
   * The identity that reads the Secret of a Bundle's source; empty for core's own, or without a
   * Secret. A Bundle for which nobody reads shares it with no other.
   */
  identityOf(bundle: Bundle): string {
    const { sources, readerOf } = this.#options;
    if (!readsSecrets(bundle.spec.source, sources)) return '';
    const reader = readerOf(bundle);
    if (reader === 'core') return '';
    if (reader instanceof WaitingError) return `Bundle ${bundle.metadata.uid}`;
    return `${reader.namespace}/${reader.name}`;
  }

  /** The reader of Secrets for a Bundle's source. */
  of(bundle: Bundle): SecretReader {
    const { system, as, readerOf, sources } = this.#options;
    const { source } = bundle.spec;
    const who = readerOf(bundle);
    // A source without a Secret must not wait for who would read it.
    if (who instanceof WaitingError) return { read: () => Promise.reject(who) };
    const account = who === 'core' ? undefined : who;
    const reader = account === undefined ? system : as(account);
    return {
      place: reader.place,
      read: async (name, signal) => {
        checkNamed(name, source, sources);
        const secret = await read(() => reader.read(name, signal), name, account);
        if (sources.get(source.type)?.secretsListHosts) return secret;
        const { place = 'the system namespace' } = reader;
        if (secret === undefined && account === undefined) return undefined;
        if (secret === undefined) throw new Error(`Secret "${name}" not found in ${place}`);
        const to = { type: source.type, hosts: credentialHosts(source, sources) };
        this.#checkHost(secret, { name, place, ...to });
        return secret;
      },
    };
  }

  #checkHost(
    { hosts }: SecretContent,
    {
      name,
      place,
      type,
      hosts: names,
    }: Record<'name' | 'place' | 'type', string> & { readonly hosts: readonly string[] },
  ): void {
    if (hosts === undefined && this.#options.allowUnscoped) return;
    if (names.length === 0) {
      throw new Error(
        `Secret "${name}" of ${place} is for hosts, and source type "${type}" names none for this spec: its function "host" must name the server that gets the Secret`,
      );
    }
    if (hosts?.some((host) => names.some((own) => matchesHost(host, own)))) return;
    const [host = ''] = names;
    const problem = hosts === undefined ? 'names no hosts' : `is not for host "${host}"`;
    throw new Error(
      `Secret "${name}" of ${place} ${problem}: to let core send it to "${host}", add "${host}" to its annotation ${annotation.sourceHosts}, a comma-separated list such as "${host},*.example.com:8443"`,
    );
  }
}

/** Whether a source names a Secret, or may read any. */
export function readsSecrets(source: BundleSource, sources: SourceTypes): boolean {
  const type = sources.get(source.type);
  return type?.secret === undefined || Boolean(type.secret(source));
}

/**
 * Core shares the fetch of a Bundle without a named Secret with Bundles of all readers.
 * @throws Error for a Secret that the source does not name.
 */
function checkNamed(name: string, source: BundleSource, sources: SourceTypes): void {
  const type = sources.get(source.type);
  if (type?.secret === undefined || type.secret(source) === name) return;
  throw new Error(
    `source type "${source.type}" reads Secret "${name}", which its function "secret" does not name: let it name this Secret, or leave it out if the source reads several`,
  );
}

async function read(
  get: () => Promise<SecretContent | undefined>,
  name: string,
  account: ServiceAccountRef | undefined,
): Promise<SecretContent | undefined> {
  try {
    return await get();
  } catch (error) {
    if (account === undefined || !isForbidden(error)) throw error;
    throw new Error(
      `Secret "${name}" cannot be read with the permissions of ServiceAccount ${account.namespace}/${account.name}, which spec.serviceAccount of the BundleDeployment names: allow the account to get it (${errorMessage(error)})`,
      { cause: error },
    );
  }
}

/** The server of a source, without its port; the source's type if it has no server. */
export function sourceHost(source: BundleSource, sources: SourceTypes): string {
  return sources.get(source.type)?.host(source)?.hostname || source.type;
}

/**
 * Names of the server that receives a source's Secret: `host:port`, and `host` when the port is its
 * protocol's default. Empty without a server.
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
