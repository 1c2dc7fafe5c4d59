import type { Bundle, BundleSource, BundleStatus } from '../../api/v1alpha1/bundle.ts';
import { annotation } from '../../api/v1alpha1/labels.ts';
import { pinIn, withPin } from './pin.ts';

/**
 * Which content a Bundle has is noted in an annotation, empty until it is resolved: writing a status
 * never changes metadata, and the webhook keeps the note as it is. A status is believed only where
 * there is no note at all: RukPak and earlier versions of core wrote none (ADR 39).
 */
export function knownPin({ metadata, spec, status }: Bundle): string | undefined {
  const ofSpec = pinIn(spec.source, spec.source);
  if (ofSpec !== undefined) return ofSpec;
  const note = metadata.annotations?.[annotation.pin];
  return note === undefined ? pinIn(status?.resolvedSource, spec.source) : note || undefined;
}

/** The note of a Bundle that nobody has unpacked yet; undefined where it needs none. */
export function unresolvedNote(source: BundleSource): Record<string, string> | undefined {
  return isNoted(source) ? { [annotation.pin]: '' } : undefined;
}

/** Whether a source may give other content tomorrow: what its spec pins, nobody can change. */
export function isNoted(source: BundleSource): boolean {
  const { image, git, http } = source;
  return (image ?? git ?? http) !== undefined && pinIn(source, source) === undefined;
}

/**
 * Whether fetching the Bundle again can only give the content that it was unpacked with: ConfigMaps
 * and uploads cannot change under an unpacked Bundle, everything else needs its pin.
 */
export function isPinned(bundle: Bundle): boolean {
  const { type } = bundle.spec.source;
  return type === 'configMaps' || type === 'upload' || knownPin(bundle) !== undefined;
}

/**
 * What is to be fetched: the spec, at what it is pinned to.
 * @throws TerminalError where the note is no pin
 */
export function wantedSource(bundle: Bundle): BundleSource {
  const { source } = bundle.spec;
  const pin = knownPin(bundle);
  return pin === undefined || !isNoted(source) ? source : withPin(source, pin);
}

/** The status, with the resolved source that the Bundle really has where it says something else. */
export function withKnownPin(bundle: Bundle): BundleStatus {
  const { spec, status = {} } = bundle;
  const { resolvedSource, ...rest } = status;
  if (!isNoted(spec.source) || pinIn(resolvedSource, spec.source) === knownPin(bundle))
    return status;
  try {
    return knownPin(bundle) === undefined
      ? rest
      : { ...rest, resolvedSource: wantedSource(bundle) };
  } catch {
    // Fetching says what is wrong with the note.
    return rest;
  }
}
