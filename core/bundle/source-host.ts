import type { BundleSource } from '../../api/v1alpha1/bundle.ts';
import { parseImageReference } from '../sources/image/reference.ts';

/** Which server a source is fetched from, without its port; for one of no server its type. */
export function sourceHost({ type, image, git, http }: BundleSource): string {
  const address = image === undefined ? (git?.repository ?? http?.url) : urlOfRegistry(image.ref);
  return (address === undefined ? undefined : hostOf(address)) ?? type;
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
