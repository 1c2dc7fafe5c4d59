import { createHash, type Hash } from 'node:crypto';

/** Content address of the distribution spec: `sha256:<64 hex>` or `sha512:<128 hex>`. */
const lengths: ReadonlyMap<string, number> = new Map([
  ['sha256', 64],
  ['sha512', 128],
]);

/** Why a text is not a digest that can be verified; undefined where it is one. */
export function digestProblem(text: string): string | undefined {
  const [, algorithm, hex] = /^([a-z0-9]+(?:[+._-][a-z0-9]+)*):([a-zA-Z0-9]+)$/.exec(text) ?? [];
  if (algorithm === undefined || hex === undefined) return 'invalid checksum digest format';
  const length = lengths.get(algorithm);
  if (length === undefined) return 'unsupported digest algorithm';
  if (hex.length !== length) return 'invalid checksum digest length';
  return /^[a-f0-9]+$/.test(hex) ? undefined : 'invalid checksum digest format';
}

/** The hash that a valid digest was made with. */
export function digestHash(digest: string): Hash {
  return createHash(digestAlgorithm(digest));
}

export function digestAlgorithm(digest: string): string {
  return digest.slice(0, digest.indexOf(':'));
}

export function digestOf(bytes: Uint8Array, algorithm = 'sha256'): string {
  return `${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`;
}
