import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { ServerHostKeyAlgorithm } from 'ssh2';
import { matchesWildcard } from '../../../platform/net/index.ts';
import type { SSHAddress } from '../repository-address.ts';

/** Host key algorithms by key type; the best first for an unknown host. */
const algorithmsOf: ReadonlyMap<string, readonly ServerHostKeyAlgorithm[]> = new Map<
  string,
  readonly ServerHostKeyAlgorithm[]
>([
  ['ssh-ed25519', ['ssh-ed25519']],
  ['ecdsa-sha2-nistp256', ['ecdsa-sha2-nistp256']],
  ['ecdsa-sha2-nistp384', ['ecdsa-sha2-nistp384']],
  ['ecdsa-sha2-nistp521', ['ecdsa-sha2-nistp521']],
  ['ssh-rsa', ['rsa-sha2-512', 'rsa-sha2-256', 'ssh-rsa']],
]);

/** The lines of a known_hosts file about one host. */
export class HostKeys {
  readonly #name: string;
  readonly #place: string;
  readonly #lines: readonly KnownHost[];

  /** `place` names the lines' source in messages. */
  constructor(lines: readonly KnownHost[], { host, port }: SSHAddress, place: string) {
    this.#name = port === 22 ? host : `[${host}]:${port}`;
    this.#place = place;
    const exact = lines.filter((line) => isAbout(line, this.#name));
    // As in ssh, a host's key is valid for other ports that have no line of their own.
    this.#lines =
      exact.length > 0 || port === 22 ? exact : lines.filter((line) => isAbout(line, host));
  }

  /** Known types first, so that a host with several keys presents a known one. */
  get algorithms(): readonly ServerHostKeyAlgorithm[] {
    const types = this.#lines.filter(({ marker }) => marker === 'none').map((line) => line.keyType);
    const ordered = new Set([...types, ...algorithmsOf.keys()]);
    return [...ordered].flatMap((type) => algorithmsOf.get(type) ?? []);
  }

  /** @throws Error when the host's key is not trusted */
  check(key: Buffer): void {
    const shown = `the host shows ${keyTypeOf(key) ?? 'a'} key ${fingerprint(key)}`;
    const same = this.#lines.filter((line) => line.key.equals(key));
    if (same.some(({ marker }) => marker === 'revoked')) {
      throw new Error(
        `ssh: handshake failed: the host key of "${this.#name}" is revoked: ${shown}, which is marked @revoked in ${this.#place}`,
      );
    }
    if (same.some(({ marker }) => marker === 'none')) return;
    throw new Error(`ssh: handshake failed: ${this.#problem(shown)}`);
  }

  #problem(shown: string): string {
    const markers = new Set(this.#lines.map(({ marker }) => marker));
    const remedy = `if that is right, put its line into ${this.#place}`;
    if (markers.has('none')) {
      return `ssh: host key mismatch for "${this.#name}": ${shown}, but other keys are known: somebody may intercept the connection; ${remedy}`;
    }
    if (markers.has('cert-authority')) {
      return `the host key of "${this.#name}" is not known: ${shown}, and host certificates (@cert-authority) are not supported; ${remedy}`;
    }
    return `the host key of "${this.#name}" is not known: ${shown}; ${remedy}`;
  }
}

/** In the format of `ssh-keygen -l`. */
function fingerprint(key: Buffer): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;
}

interface KnownHost {
  /** `none` for a host's own key. */
  readonly marker: 'none' | 'revoked' | 'cert-authority';
  /** Host patterns, or one hashed name, as written. */
  readonly hosts: string;
  /** Such as `ssh-ed25519`. */
  readonly keyType: string;
  /** In SSH's wire form. */
  readonly key: Buffer;
}

/** The lines of a known_hosts file (sshd(8)); ignores invalid lines, as ssh does. */
export function parseKnownHosts(text: string): readonly KnownHost[] {
  return text.split('\n').flatMap((line) => parseLine(line) ?? []);
}

const markers: ReadonlyMap<string, KnownHost['marker']> = new Map([
  ['@revoked', 'revoked'],
  ['@cert-authority', 'cert-authority'],
]);

function parseLine(line: string): KnownHost | undefined {
  // As in ssh, other blanks are part of a name.
  const fields = line.replaceAll(/^[ \t]+|(?<![ \t\r])[ \t\r]+$/g, '').split(/[ \t]+/);
  const marker = markers.get(fields[0] ?? '');
  const [hosts = '', keyType = '', encoded = ''] = marker === undefined ? fields : fields.slice(1);
  if (/^[#@]/.test(hosts)) return undefined;
  const key = Buffer.from(encoded, 'base64');
  if (keyTypeOf(key) !== keyType) return undefined;
  return { marker: marker ?? 'none', hosts, keyType, key };
}

/** The type at the start of a public key in wire form; undefined for anything else. */
function keyTypeOf(key: Buffer): string | undefined {
  if (key.byteLength < 4) return undefined;
  const length = key.readUInt32BE(0);
  if (length === 0 || length > key.byteLength - 4) return undefined;
  return key.toString('latin1', 4, 4 + length);
}

/** Whether a line is about a host in known_hosts' notation: `host`, or `[host]:port`. */
function isAbout({ hosts }: KnownHost, name: string): boolean {
  const wanted = name.toLowerCase();
  if (hosts.startsWith('|')) return matchesHash(hosts, wanted);
  let found = false;
  for (const pattern of hosts.toLowerCase().split(',')) {
    const negated = pattern.startsWith('!');
    if (!matchesWildcard(withoutUsualPort(negated ? pattern.slice(1) : pattern), wanted)) continue;
    if (negated) return false;
    found = true;
  }
  return found;
}

/** As Go's SSH reads it; ssh itself writes no port 22. */
function withoutUsualPort(pattern: string): string {
  return /^\[(.+)\]:22$/.exec(pattern)?.[1] ?? pattern;
}

/** `|1|salt|HMAC-SHA1 of the name`, both in base64. */
function matchesHash(hosts: string, name: string): boolean {
  const [, version, salt = '', expected = ''] = hosts.split('|');
  if (version !== '1') return false;
  const hash = createHmac('sha1', Buffer.from(salt, 'base64')).update(name).digest();
  const wanted = Buffer.from(expected, 'base64');
  return wanted.byteLength === hash.byteLength && timingSafeEqual(hash, wanted);
}
