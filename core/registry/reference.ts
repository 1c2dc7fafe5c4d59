import { createHash, type Hash } from 'node:crypto';
import { TerminalError } from '../errors.ts';

/** Reference of an image: `<domain>/<path>`, with a tag, a digest or both. */
export interface ImageReference {
  /** Host and port as written; defaults to `docker.io`. */
  readonly domain: string;
  readonly path: string;
  readonly tag?: string;
  readonly digest?: string;
}

const maxReferenceLength = 1024;
const maxNameLength = 255;
const defaultDomain = 'docker.io';
const domainPattern =
  /^(?:\[[a-fA-F0-9:]+\]|[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*)(?::[0-9]{1,5})?$/;
const pathPartPattern = /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*$/;
const tagPattern = /^\w[\w.-]{0,127}$/;

/**
 * Parses a reference like docker: `nginx` is `docker.io/library/nginx:latest`.
 * @throws TerminalError `error parsing image reference: ...`
 */
export function parseImageReference(text: string): ImageReference {
  checkText(text);
  const at = text.indexOf('@');
  const digest = at === -1 ? undefined : text.slice(at + 1);
  const { domain, rest } = splitDomain(at === -1 ? text : text.slice(0, at));
  const colon = rest.indexOf(':');
  const tag = colon === -1 ? undefined : rest.slice(colon + 1);
  const path = qualified(domain, colon === -1 ? rest : rest.slice(0, colon));
  checkName(domain, path);
  checkVersion(tag, digest);
  if (digest !== undefined) {
    return tag === undefined ? { domain, path, digest } : { domain, path, tag, digest };
  }
  return { domain, path, tag: tag ?? 'latest' };
}

/** The repository with its registry, `docker.io/library/nginx`. */
export function repositoryName(reference: Repository): string {
  return `${reference.domain}/${reference.path}`;
}

/** Reference for requests to the registry: the digest if any, else the tag. */
export function manifestReference(reference: ImageReference): string {
  return reference.digest ?? reference.tag ?? 'latest';
}

/** The host of Docker Hub's API differs from the domain of its images. */
export function registryHost(domain: string): string {
  return domain === defaultDomain ? 'registry-1.docker.io' : domain;
}

/** Names of Docker Hub's registry. */
const dockerHubHosts: ReadonlySet<string> = new Set([
  defaultDomain,
  'index.docker.io',
  'registry-1.docker.io',
  'registry.hub.docker.com',
]);

/**
 * The one spelling by which domains are compared: that of a URL of HTTPS, in lower case and without
 * its port 443. Requests and statuses keep what users wrote.
 */
export function canonicalDomain(domain: string): string {
  const name = domain.toLowerCase().replace(/\.(?=$|:)/, '');
  if (!domainPattern.test(name)) return domain;
  const host = URL.parse(`https://${name}`)?.host ?? name;
  return dockerHubHosts.has(host) ? defaultDomain : host;
}

type Repository = Pick<ImageReference, 'domain' | 'path'>;

/** The one spelling of `<domain>/<path>` by which repositories are compared. */
export function canonicalRepository({ domain, path }: Repository): string {
  const canonical = canonicalDomain(domain);
  return `${canonical}/${qualified(canonical, path)}`;
}

/**
 * A repository in all spellings that prefixes and patterns of `normalPattern` may have: with and
 * without the default port, and as written. Port 80 is the default of a registry without TLS.
 */
export function spellings(repository: Repository): readonly string[] {
  const { domain, path } = repository;
  const base = canonicalDomain(domain).replace(/:80$/, '');
  const domains = /:[0-9]+$/.test(base) ? [base] : [base, `${base}:443`, `${base}:80`];
  const names = domains.map((each) => `${each}/${qualified(base, path)}`);
  return [...new Set([...names, repositoryName(repository)])];
}

/** A prefix or glob of repositories that admins wrote, to compare with `spellings`. */
export function normalPattern(text: string): string {
  const [domain = ''] = text.split('/', 1);
  return normalDomain(domain) + text.slice(domain.length);
}

/** Keeps the default port: the prefix `host` is also for the other ports of the host. */
function normalDomain(domain: string): string {
  if (domain.includes('*')) return domain.toLowerCase();
  const canonical = canonicalDomain(domain);
  return /:0*443$/.test(domain) && canonical !== domain ? `${canonical}:443` : canonical;
}

/** A first part without dot, colon or upper case belongs to the path and is no host. */
function splitDomain(name: string): { readonly domain: string; readonly rest: string } {
  const slash = name.indexOf('/');
  const first = name.slice(0, Math.max(slash, 0));
  const isDomain = /[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase();
  if (slash === -1 || !isDomain) return { domain: defaultDomain, rest: name };
  const domain = first === 'index.docker.io' ? defaultDomain : first;
  return { domain, rest: name.slice(slash + 1) };
}

function qualified(domain: string, path: string): string {
  return domain === defaultDomain && !path.includes('/') ? `library/${path}` : path;
}

function checkText(text: string): void {
  if (text.length > maxReferenceLength) throw invalid('invalid reference format');
  if (/^[a-f0-9]{64}$/.test(text)) {
    throw invalid(`invalid repository name (${text}), cannot specify 64-byte hexadecimal strings`);
  }
  const scheme = /^[a-z]+:\/\//i.exec(text)?.[0];
  if (scheme !== undefined) throw invalid(`invalid reference format: leave out "${scheme}"`);
}

function checkName(domain: string, path: string): void {
  if (!domainPattern.test(domain)) throw invalid('invalid reference format');
  // For example a port above 65535, or four numbers that are no IPv4 address.
  if (URL.parse(`https://${domain}`) === null) {
    throw invalid(
      `invalid reference format: ref names the registry "${domain}", which is no valid address`,
    );
  }
  if (`${domain}/${path}`.length > maxNameLength) {
    throw invalid(`repository name must not be more than ${maxNameLength} characters`);
  }
  if (path.split('/').every((part) => pathPartPattern.test(part))) return;
  const lower = path.toLowerCase();
  if (lower.split('/').every((part) => pathPartPattern.test(part))) {
    throw invalid(`invalid reference format: repository name (${path}) must be lowercase`);
  }
  throw invalid('invalid reference format');
}

function checkVersion(tag: string | undefined, digest: string | undefined): void {
  if (tag !== undefined && !tagPattern.test(tag)) throw invalid(tagProblem(tag));
  const problem = digest === undefined ? undefined : digestProblem(digest);
  if (problem !== undefined) throw invalid(problem);
}

/** Chart versions may contain `+`, which tags may not; `helm push` replaces it. */
function tagProblem(tag: string): string {
  const replaced = tag.replaceAll('+', '_');
  const problem = 'invalid reference format';
  return tagPattern.test(replaced) ? `${problem}: write the tag "${replaced}"` : problem;
}

function invalid(problem: string): TerminalError {
  return new TerminalError(`error parsing image reference: ${problem}`);
}

/**
 * Hex digits of a digest by algorithm (distribution spec): `sha256:<64 hex>`, `sha512:<128 hex>`.
 */
const lengths: ReadonlyMap<string, number> = new Map([
  ['sha256', 64],
  ['sha512', 128],
]);

/** Why a text is not a verifiable digest; undefined for a valid one. */
export function digestProblem(text: string): string | undefined {
  const [, algorithm, hex] = /^([a-z0-9]+(?:[+._-][a-z0-9]+)*):([a-zA-Z0-9]+)$/.exec(text) ?? [];
  if (algorithm === undefined || hex === undefined) return 'invalid checksum digest format';
  const length = lengths.get(algorithm);
  if (length === undefined) return 'unsupported digest algorithm';
  if (hex.length !== length) return 'invalid checksum digest length';
  return /^[a-f0-9]+$/.test(hex) ? undefined : 'invalid checksum digest format';
}

/** A hash with the algorithm of a valid digest. */
export function digestHash(digest: string): Hash {
  return createHash(digestAlgorithm(digest));
}

export function digestAlgorithm(digest: string): string {
  return digest.slice(0, digest.indexOf(':'));
}

export function digestOf(bytes: Uint8Array, algorithm = 'sha256'): string {
  return `${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`;
}
