import type { Bundle } from '../bundle.ts';
import { annotation } from '../labels.ts';

/** The pin of a Bundle with these bytes; `digest` is their SHA-256 as hex. */
export function uploadPin(digest: string): string {
  return `sha256:${digest}`;
}

/** The pin that core noted of a Bundle's content; undefined before it did. */
export function notedPin({ metadata }: Pick<Bundle, 'metadata'>): string | undefined {
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
  const pin = notedPin(bundle);
  if (pin !== undefined) return pin === uploadPin(digest);
  return isStored || bundle.status?.phase !== 'Unpacked';
}
