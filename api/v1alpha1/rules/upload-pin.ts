import type { Bundle } from '../bundle.ts';
import { annotation } from '../labels.ts';

/** The pin of a Bundle with these bytes; `digest` is their SHA-256 as hex. */
export function uploadPin(digest: string): string {
  return `sha256:${digest}`;
}

/** The pin of a Bundle that was unpacked from an upload; undefined before. */
export function uploadPinOf({ metadata }: Pick<Bundle, 'metadata'>): string | undefined {
  return metadata.annotations?.[annotation.pin] || undefined;
}

/**
 * Whether a Bundle may get these bytes: once it is unpacked, only the same ones, whatever its status
 * says. Earlier versions of core recorded no pin, so that only the status tells.
 */
export function acceptsUpload(
  bundle: Pick<Bundle, 'metadata' | 'status'>,
  { digest, isStored }: { readonly digest: string; readonly isStored: boolean },
): boolean {
  const pin = uploadPinOf(bundle);
  if (pin !== undefined) return pin === uploadPin(digest);
  return isStored || bundle.status?.phase !== 'Unpacked';
}
