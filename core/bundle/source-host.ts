import type { BundleSource } from '../../api/v1alpha1/bundle.ts';
import { parseImageReference } from '../registry/index.ts';
import { repositoryAddress } from '../sources/index.ts';

/** Which server a source is fetched from, without its port; for one of no server its type. */
export function sourceHost({ type, image, git, http }: BundleSource): string {
  const address = image === undefined ? (git?.repository ?? http?.url) : urlOfRegistry(image.ref);
  return (address === undefined ? undefined : hostOf(address)) ?? type;
}

/**
 * The names of the server that a git or HTTP source shows its Secret to: `host:port`, and `host`
 * where the port is its protocol's own. None where there is no such server.
 */
export function credentialHosts({ type, git, http }: BundleSource): readonly string[] {
  if (type === 'http' && http !== undefined) {
    const url = URL.parse(http.url);
    return url === null ? [] : namesOf(url);
  }
  if (type !== 'git' || git === undefined) return [];
  try {
    const address = repositoryAddress(git.repository);
    if (address.protocol === 'http') return namesOf(address.url);
    const host = (address.host.includes(':') ? `[${address.host}]` : address.host).toLowerCase();
    return address.port === 22 ? [host, `${host}:22`] : [`${host}:${address.port}`];
  } catch {
    // The source says what is wrong with it.
    return [];
  }
}

function namesOf({ protocol, host, port }: URL): readonly string[] {
  if (port !== '') return [host];
  return [host, `${host}:${protocol === 'https:' ? 443 : 80}`];
}

function urlOfRegistry(ref: string): string | undefined {
  try {
    return `https://${parseImageReference(ref).domain}`;
  } catch {
    return undefined;
  }
}

/** Of a URL, or of git's `user@host:path`. */
function hostOf(address: string): string | undefined {
  if (address.includes('://')) return URL.parse(address)?.hostname || undefined;
  return /^(?:[^@/:]*@)?([^@/:]+):/.exec(address)?.[1]?.toLowerCase();
}
