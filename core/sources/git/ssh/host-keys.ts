import { createHash } from 'node:crypto';
import type { ServerHostKeyAlgorithm } from 'ssh2';
import type { SSHAddress } from '../repository-address.ts';
import { isAbout, type KnownHost, keyTypeOf } from './known-hosts.ts';

/** What a host may identify itself with; best first where nothing is known. */
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

/** The lines of a known_hosts file that are about one host. */
export class HostKeys {
  readonly #name: string;
  readonly #place: string;
  readonly #lines: readonly KnownHost[];

  /** `place` says where the lines are, for messages. */
  constructor(lines: readonly KnownHost[], { host, port }: SSHAddress, place: string) {
    this.#name = port === 22 ? host : `[${host}]:${port}`;
    this.#place = place;
    const exact = lines.filter((line) => isAbout(line, this.#name));
    // As ssh does: a host's key serves its other ports, where nothing else is known of them.
    this.#lines =
      exact.length > 0 || port === 22 ? exact : lines.filter((line) => isAbout(line, host));
  }

  /** Known types first, so that a host with several keys shows one that is known. */
  get algorithms(): readonly ServerHostKeyAlgorithm[] {
    const types = this.#lines.filter(({ marker }) => marker === 'none').map((line) => line.keyType);
    const ordered = new Set([...types, ...algorithmsOf.keys()]);
    return [...ordered].flatMap((type) => algorithmsOf.get(type) ?? []);
  }

  /** @throws Error where the key that the host shows is not to be trusted */
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
      return `ssh: host key mismatch for "${this.#name}": ${shown}, but other keys are known: somebody may be in between; ${remedy}`;
    }
    if (markers.has('cert-authority')) {
      return `the host key of "${this.#name}" is not known: ${shown}, and host certificates (@cert-authority) are not supported; ${remedy}`;
    }
    return `the host key of "${this.#name}" is not known: ${shown}; ${remedy}`;
  }
}

/** As `ssh-keygen -l` prints it. */
function fingerprint(key: Buffer): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;
}
