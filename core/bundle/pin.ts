import type {
  BundleSource,
  GitSource,
  HTTPSource,
  ImageSource,
} from '../../api/v1alpha1/bundle.ts';
import { annotation } from '../../api/v1alpha1/labels.ts';
import { TerminalError } from '../errors.ts';
import { type ImageReference, parseImageReference, repositoryName } from '../registry/index.ts';

/**
 * Whether a pin names content of the very place that the spec names; never so for ConfigMaps and
 * uploads, which have no other address than the spec's.
 */
export function isPinOf(pin: BundleSource, spec: BundleSource): boolean {
  if (pin.type !== spec.type) return false;
  if (pin.image !== undefined && spec.image !== undefined) return isImageOf(pin.image, spec.image);
  if (pin.git !== undefined && spec.git !== undefined) return isCommitOf(pin.git, spec.git);
  return pin.http !== undefined && spec.http !== undefined && isBodyOf(pin.http, spec.http);
}

/** What `pin` adds to the spec: a digest or a commit; undefined where it is none of the spec's. */
export function pinIn(pin: BundleSource | undefined, spec: BundleSource): string | undefined {
  if (pin === undefined || !isPinOf(pin, spec)) return undefined;
  if (pin.image !== undefined) return referenceOf(pin.image)?.digest;
  return pin.git?.ref.commit ?? pin.http?.checksum;
}

/**
 * The spec at a digest or commit. Nothing but that is ever taken from elsewhere: RukPak's pins of
 * images have lost their pull secret, and only a spec says where credentials go.
 * @throws TerminalError where it is none of the source's type
 */
export function withPin(spec: BundleSource, pin: string): BundleSource {
  const { image, git, http } = spec;
  const pinned: BundleSource = {
    ...spec,
    ...(image && { image: { ...image, ref: pinnedReference(image, pin) } }),
    ...(git && { git: { ...git, ref: { commit: pin } } }),
    ...(http && { http: { ...http, checksum: pin } }),
  };
  if (isPin(pin, spec) && isPinOf(pinned, spec)) return pinned;
  throw new TerminalError(
    `annotation ${annotation.pin} ${JSON.stringify(pin.slice(0, 100))} is none of a source of type ${spec.type}: put back the value that core has written, or delete this Bundle`,
  );
}

function isPin(text: string, { git }: BundleSource): boolean {
  return (git === undefined ? /^sha(?:256|512):[0-9a-f]{64,128}$/ : /^[0-9a-f]{40}$/).test(text);
}

function pinnedReference(image: ImageSource, pin: string): string {
  const reference = referenceOf(image);
  return reference === undefined ? image.ref : `${repositoryName(reference)}@${pin}`;
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
