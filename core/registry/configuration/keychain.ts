import { z } from 'zod';
import { record } from '../../../api/record.ts';
import { matchesWildcard } from '../../platform/net/index.ts';
import { canonicalDomain, type ImageReference } from '../reference.ts';

export interface Credentials {
  readonly username: string;
  readonly password: string;
  /** An OAuth2 refresh token, in place of the password. */
  readonly identityToken?: string;
}

/** Credentials by registry and repository. */
export interface Keychain {
  /** Credentials for an image, the most specific first; empty for an anonymous pull. */
  credentialsFor(reference: ImageReference): readonly Credentials[];
  /**
   * Why configured credentials may be missing; part of the message when a registry denies access.
   */
  readonly shortcoming?: string;
}

export const emptyKeychain: Keychain = { credentialsFor: () => [] };

interface Entry {
  readonly host: string;
  readonly path: string;
  readonly credentials: Credentials;
}

const authSchema = z.looseObject({
  auth: z.string().optional(),
  username: z.string().optional(),
  password: z.string().optional(),
  identitytoken: z.string().optional(),
});
const authsSchema = record(authSchema);
const configSchema = z.looseObject({
  auths: authsSchema.optional(),
  credHelpers: z.unknown().optional(),
  credsStore: z.unknown().optional(),
});

/**
 * Parses a Docker config.json, with `auths` at its top, or a `.dockercfg`, which is the list of
 * registries itself. Ignores credential helpers, because they are programs; `shortcoming` names
 * them.
 * @throws Error that describes the problem without any content of the file
 */
export function parseDockerConfig(text: string, format: 'config.json' | 'dockercfg'): Keychain {
  const config = parseConfig(text, format);
  const entries = Object.entries(config.auths ?? {})
    .map(([location, auth]) => entryOf(location, auth))
    .filter((entry) => entry !== undefined)
    .sort((a, b) => (a.host + a.path < b.host + b.path ? 1 : -1));
  const helpers = (['credHelpers', 'credsStore'] as const).filter((name) => isSet(config[name]));
  return {
    credentialsFor: (reference) =>
      entries.filter((entry) => matches(entry, reference)).map(({ credentials }) => credentials),
    ...(helpers.length === 0 ? {} : { shortcoming: ignoredHelpers(helpers) }),
  };
}

function ignoredHelpers(settings: readonly string[]): string {
  return `credential helpers (${settings.join(', ')}) are not run: only credentials under auths are used`;
}

function isSet(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return value !== undefined && value !== null && value !== '';
}

function parseConfig(
  text: string,
  format: 'config.json' | 'dockercfg',
): z.infer<typeof configSchema> {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    throw new Error('it is not valid JSON');
  }
  const wrapped = format === 'dockercfg' ? { auths: document } : document;
  const result = configSchema.safeParse(wrapped);
  if (result.success) return result.data;
  throw new Error(`it is not a Docker ${format}: ${result.error.issues[0]?.message ?? ''}`);
}

/**
 * The key is a host, a host with a path, or a URL; undefined for another key, or without
 * credentials.
 */
function entryOf(location: string, auth: z.infer<typeof authSchema>): Entry | undefined {
  const [, host, path] = /^(?:https?:\/\/)?([^/]+)(\/.*)?$/.exec(location) ?? [];
  const credentials = credentialsOf(auth);
  if (host === undefined || credentials === undefined) return undefined;
  const below = (path ?? '').replace(/^\/v[12]\//, '/');
  return {
    host: host.includes('*') ? host.toLowerCase().replace(/:443$/, '') : canonicalDomain(host),
    path: below === '/' ? '' : below,
    credentials,
  };
}

function credentialsOf(auth: z.infer<typeof authSchema>): Credentials | undefined {
  const token = auth.identitytoken ?? '';
  const decoded = Buffer.from(auth.auth ?? '', 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  const username = colon === -1 ? (auth.username ?? '') : decoded.slice(0, colon);
  const password =
    colon === -1
      ? (auth.password ?? '')
      : decoded.slice(colon + 1).replace(/^\0+|(?<!\0)\0+$/g, '');
  if (token !== '') return { username, password, identityToken: token };
  return username === '' && password === '' ? undefined : { username, password };
}

/** The kubelet's rule: the host by its pattern, the path as a plain prefix. */
function matches(entry: Entry, reference: ImageReference): boolean {
  const { domain, path } = reference;
  const names = [canonicalDomain(domain), domain.toLowerCase()];
  return names.some((name) => matchesHost(entry.host, name)) && `/${path}`.startsWith(entry.path);
}

/**
 * Whether a registry's `host[:port]` matches a pattern of the kubelet: the same number of parts
 * between dots, `*` and `?` within a part, and the same port.
 */
export function matchesHost(pattern: string, host: string): boolean {
  const wanted = splitPort(pattern);
  const actual = splitPort(host);
  return (
    wanted.port === actual.port &&
    wanted.parts.length === actual.parts.length &&
    wanted.parts.every((part, index) => matchesWildcard(part, actual.parts[index] ?? ''))
  );
}

function splitPort(host: string): { readonly parts: readonly string[]; readonly port: string } {
  const port = /:[0-9]+$/.exec(host)?.[0] ?? '';
  return { parts: host.slice(0, host.length - port.length).split('.'), port };
}
