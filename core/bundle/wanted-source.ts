import type { Bundle, BundleSource } from '../../api/v1alpha1/bundle.ts';
import { isPinOf } from './pin.ts';

/**
 * The spec, at what it is pinned to. Nothing else is taken from the pin: RukPak's pins of images have
 * lost their pull secret, and whoever may write a status is not to say where credentials go.
 */
export function wantedSource({ spec: { source }, status }: Bundle): BundleSource {
  const pin = status?.resolvedSource;
  const { image, git, http } = source;
  if (pin === undefined || !isPinOf(pin, source)) return source;
  if (image !== undefined) return { ...source, image: { ...image, ...pick(pin.image) } };
  if (git !== undefined) return { ...source, git: { ...git, ...pick(pin.git) } };
  const { checksum } = pin.http ?? {};
  return http === undefined || checksum === undefined
    ? source
    : { ...source, http: { ...http, checksum } };
}

function pick<T extends { readonly ref: unknown }>(
  pinned: T | undefined,
): Pick<T, 'ref'> | undefined {
  return pinned && { ref: pinned.ref };
}
