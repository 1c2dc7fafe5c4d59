import type { RegistriesConfig } from '../configuration/pull-places.ts';

export interface HostOptions {
  /** Hosts (`host[:port]`) to reach over plain HTTP. */
  readonly insecureRegistries: readonly string[];
  /** Host without certificate check, and with plain HTTP if HTTPS fails. */
  readonly uncheckedHost?: string | undefined;
  /** Host that an admin has chosen for this image: `addresses` does not apply to it. */
  readonly chosenHost?: string | undefined;
  /** Like `uncheckedHost`, for all hosts. */
  readonly skipTlsVerify?: boolean | undefined;
  /** Uses plain HTTP for all hosts. */
  readonly useHttp?: boolean | undefined;
  /** An admin has chosen these registries and mirrors: `addresses` does not apply to them. */
  readonly registries?: RegistriesConfig | undefined;
}

/** What admins and users allow for single hosts. */
export class HostRules {
  readonly #options: HostOptions;
  /** As listed, and as in URLs: without HTTP's default port. */
  readonly #insecure: ReadonlySet<string>;
  readonly #unchecked: ReadonlySet<string>;
  /** As in URLs. */
  readonly #chosen: ReadonlySet<string>;

  constructor(options: HostOptions) {
    this.#options = options;
    this.#insecure = new Set(
      options.insecureRegistries.flatMap((host) => hostNames(host, ['http'])),
    );
    const { uncheckedHost } = options;
    const unchecked =
      uncheckedHost === undefined ? [] : hostNames(uncheckedHost, ['http', 'https']);
    this.#unchecked = new Set(unchecked);
    this.#chosen = new Set(chosenHosts(options));
  }

  /** Whether plain HTTP is allowed. */
  isPlain(host: string): boolean {
    return this.#options.useHttp === true || this.#insecure.has(host);
  }

  /** Whether certificates are not checked. */
  isUnchecked(host: string): boolean {
    return this.#options.skipTlsVerify === true || this.#unchecked.has(host);
  }

  /** Whether an admin has named the host: it may have any address. */
  isChosen(host: string): boolean {
    return this.#chosen.has(host);
  }
}

/** A host as listed, and as in URLs of these schemes. */
function hostNames(listed: string, schemes: readonly string[]): string[] {
  const host = listed.toLowerCase();
  if (URL.parse(`http://${host}`) === null || host === '' || /[/@?#]/.test(host)) {
    throw new Error(`insecure registry "${listed}" is not a host with an optional port`);
  }
  return [host, ...schemes.map((scheme) => new URL(`${scheme}://${host}`).host)];
}

/** Hosts that an admin has named, without blocked registries. */
function chosenHosts(options: HostOptions): readonly string[] {
  const { insecureRegistries, registries, chosenHost = '' } = options;
  const rules = (registries?.registries ?? []).filter(({ blocked }) => !blocked);
  const locations = [
    ...rules.flatMap(({ prefix, location }) => [prefix, location ?? '']),
    ...(registries?.registries ?? []).flatMap(({ mirrors }) =>
      mirrors.map((each) => each.location),
    ),
  ];
  const hosts = locations.map((location) => location.split('/')[0] ?? '');
  return [...insecureRegistries, chosenHost, ...hosts]
    .filter((host) => host !== '' && !host.includes('*') && URL.parse(`https://${host}`) !== null)
    .flatMap((host) => hostNames(host, ['http', 'https']));
}
