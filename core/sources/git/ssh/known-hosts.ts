import { createHmac, timingSafeEqual } from 'node:crypto';
import { matchesWildcard } from '../../../platform/net/index.ts';

export interface KnownHost {
  /** Without a marker the key is the host's own. */
  readonly marker: 'none' | 'revoked' | 'cert-authority';
  /** Host patterns, or one hashed name, as written. */
  readonly hosts: string;
  /** Such as `ssh-ed25519`. */
  readonly keyType: string;
  /** In SSH's wire form. */
  readonly key: Buffer;
}

/** The lines of a known_hosts file (sshd(8)); as for ssh, lines that are none are passed over. */
export function parseKnownHosts(text: string): readonly KnownHost[] {
  return text.split('\n').flatMap((line) => parseLine(line) ?? []);
}

const markers: ReadonlyMap<string, KnownHost['marker']> = new Map([
  ['@revoked', 'revoked'],
  ['@cert-authority', 'cert-authority'],
]);

function parseLine(line: string): KnownHost | undefined {
  // As for ssh no other blanks count: what looks like them is part of a name.
  const fields = line.replaceAll(/^[ \t]+|[ \t\r]+$/g, '').split(/[ \t]+/);
  const marker = markers.get(fields[0] ?? '');
  const [hosts = '', keyType = '', encoded = ''] = marker === undefined ? fields : fields.slice(1);
  if (/^[#@]/.test(hosts)) return undefined;
  const key = Buffer.from(encoded, 'base64');
  if (keyTypeOf(key) !== keyType) return undefined;
  return { marker: marker ?? 'none', hosts, keyType, key };
}

/** The type that a public key in wire form names first; undefined where it is none. */
export function keyTypeOf(key: Buffer): string | undefined {
  if (key.byteLength < 4) return undefined;
  const length = key.readUInt32BE(0);
  if (length === 0 || length > key.byteLength - 4) return undefined;
  return key.toString('latin1', 4, 4 + length);
}

/** Whether a line is about a host, given as known_hosts has it: `host`, or `[host]:port`. */
export function isAbout({ hosts }: KnownHost, name: string): boolean {
  const wanted = name.toLowerCase();
  if (hosts.startsWith('|')) return matchesHash(hosts, wanted);
  let found = false;
  for (const pattern of hosts.toLowerCase().split(',')) {
    const negated = pattern.startsWith('!');
    if (!matchesWildcard(negated ? pattern.slice(1) : pattern, wanted)) continue;
    if (negated) return false;
    found = true;
  }
  return found;
}

/** `|1|salt|HMAC-SHA1 of the name`, both in base64. */
function matchesHash(hosts: string, name: string): boolean {
  const [, version, salt = '', expected = ''] = hosts.split('|');
  if (version !== '1') return false;
  const hash = createHmac('sha1', Buffer.from(salt, 'base64')).update(name).digest();
  const wanted = Buffer.from(expected, 'base64');
  return wanted.byteLength === hash.byteLength && timingSafeEqual(hash, wanted);
}
