import type { BundleSource } from '../../api/v1alpha1/bundle.ts';
import { parseImageReference } from '../sources/image/reference.ts';

/** Which server a source is fetched from, as `host[:port]`; for one of no server its type. */
export function sourceHost({ type, image, git, http }: BundleSource): string {
  if (image !== undefined) return registryOf(image.ref) ?? type;
  const address = git?.repository ?? http?.url;
  return (address === undefined ? undefined : hostOf(address)) ?? type;
}

function registryOf(ref: string): string | undefined {
  try {
    return parseImageReference(ref).domain.toLowerCase();
  } catch {
    return undefined;
  }
}

/** Of a URL, or of git's `user@host:path`. */
function hostOf(address: string): string | undefined {
  if (address.includes('://')) return URL.canParse(address) ? new URL(address).host : undefined;
  return /^(?:[^@/:]*@)?([^@/:]+):/.exec(address)?.[1]?.toLowerCase();
}
