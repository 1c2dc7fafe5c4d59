import { createCipheriv, createHmac } from 'node:crypto';
import type { ChartRelease } from './render-request.ts';

/** Fills the bytes with the next ones. */
export type RandomBytes = (bytes: Uint8Array) => void;

/** Bytes that nobody can guess without the seed, and that are the same for every call. */
export function randomStream(seed: Uint8Array, { name, namespace }: ChartRelease): RandomBytes {
  const key = createHmac('sha256', seed).update(`helm ${namespace}/${name}`).digest();
  // Each key has one stream only, so that its counter may begin at zero.
  const cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16));
  return (bytes) => bytes.set(cipher.update(new Uint8Array(bytes.byteLength)));
}
