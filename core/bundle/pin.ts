import type {
  Bundle,
  BundleSource,
  GitSource,
  HTTPSource,
  ImageSource,
} from '../../api/v1alpha1/bundle.ts';
import {
  type ImageReference,
  parseImageReference,
  repositoryName,
} from '../sources/image/reference.ts';

/**
 * Whether a pin names content of the very place that the spec names; never so for ConfigMaps and
 * uploads, which have no other address than the spec's. A status may be written by more
 * people than a spec, and must not bring in other content.
 */
export function isPinOf(pin: BundleSource, spec: BundleSource): boolean {
  if (pin.type !== spec.type) return false;
  if (pin.image !== undefined && spec.image !== undefined) return isImageOf(pin.image, spec.image);
  if (pin.git !== undefined && spec.git !== undefined) return isCommitOf(pin.git, spec.git);
  return pin.http !== undefined && spec.http !== undefined && isBodyOf(pin.http, spec.http);
}

/**
 * Whether fetching the Bundle again can only give the content that it was unpacked with: ConfigMaps
 * and uploads cannot change under an unpacked Bundle, everything else needs its pin.
 */
export function isPinned({ spec: { source }, status }: Bundle): boolean {
  if (source.type === 'configMaps' || source.type === 'upload') return true;
  return status?.resolvedSource !== undefined && isPinOf(status.resolvedSource, source);
}

function isImageOf(pin: ImageSource, spec: ImageSource): boolean {
  const pinned = referenceOf(pin);
  const wanted = referenceOf(spec);
  if (pinned?.digest === undefined || wanted === undefined) return false;
  return (
    repositoryName(pinned) === repositoryName(wanted) &&
    (wanted.digest === undefined || wanted.digest === pinned.digest)
  );
}

function referenceOf({ ref }: ImageSource): ImageReference | undefined {
  try {
    return parseImageReference(ref);
  } catch {
    return undefined;
  }
}

function isCommitOf(pin: GitSource, spec: GitSource): boolean {
  return (
    pin.repository === spec.repository &&
    (pin.directory ?? '') === (spec.directory ?? '') &&
    pin.ref.commit !== undefined &&
    (spec.ref.commit === undefined || spec.ref.commit === pin.ref.commit)
  );
}

function isBodyOf(pin: HTTPSource, spec: HTTPSource): boolean {
  return (
    pin.url === spec.url &&
    pin.checksum !== undefined &&
    (spec.checksum === undefined || spec.checksum === pin.checksum)
  );
}
