import type { Bundle, BundleSource, BundleStatus } from '../../api/v1alpha1/bundle.ts';
import { annotation } from '../../api/v1alpha1/labels.ts';
import { pinIn, type SourceTypes, withPin } from './pin.ts';

/**
 * Which content a Bundle has is noted in an annotation, empty until it is resolved: writing a status
 * never changes metadata, and the webhook keeps the note as it is. A status is believed only where
 * there is no note at all: RukPak and earlier versions of core wrote none (ADR 39).
 */
export function knownPin(
  { metadata, spec, status }: Bundle,
  sources: SourceTypes,
): string | undefined {
  const ofSpec = pinIn(sources, spec.source, spec.source);
  if (ofSpec !== undefined) return ofSpec;
  const note = metadata.annotations?.[annotation.pin];
  return note === undefined
    ? pinIn(sources, status?.resolvedSource, spec.source)
    : note || undefined;
}

/**
 * The note of a Bundle that nobody has unpacked yet; undefined where it needs none. A type that this
 * process does not serve may need one in the process that does.
 */
export function unresolvedNote(
  source: BundleSource,
  sources: SourceTypes,
): Record<string, string> | undefined {
  const isUnserved = !sources.has(source.type);
  return isUnserved || isNoted(source, sources) ? { [annotation.pin]: '' } : undefined;
}

/** Whether a source may give other content tomorrow: what its spec pins, nobody can change. */
export function isNoted(source: BundleSource, sources: SourceTypes): boolean {
  const { pin = 'immutable' } = sources.get(source.type) ?? {};
  return pin !== 'immutable' && pinIn(sources, source, source) === undefined;
}

/**
 * Whether fetching the Bundle again can only give the content that it was unpacked with: what is not
 * immutable needs its pin.
 */
export function isPinned(bundle: Bundle, sources: SourceTypes): boolean {
  const { pin } = sources.get(bundle.spec.source.type) ?? {};
  return pin === 'immutable' || knownPin(bundle, sources) !== undefined;
}

/**
 * What is to be fetched: the spec, at what it is pinned to.
 * @throws TerminalError where the note is no pin
 */
export function wantedSource(bundle: Bundle, sources: SourceTypes): BundleSource {
  const { source } = bundle.spec;
  const pin = knownPin(bundle, sources);
  return pin === undefined || !isNoted(source, sources) ? source : withPin(sources, source, pin);
}

/** The status, with the resolved source that the Bundle really has where it says something else. */
export function withKnownPin(bundle: Bundle, sources: SourceTypes): BundleStatus {
  const { spec, status = {} } = bundle;
  const { resolvedSource, ...rest } = status;
  const known = knownPin(bundle, sources);
  if (!isNoted(spec.source, sources) || pinIn(sources, resolvedSource, spec.source) === known)
    return status;
  try {
    return known === undefined ? rest : { ...rest, resolvedSource: wantedSource(bundle, sources) };
  } catch {
    // Fetching says what is wrong with the note.
    return rest;
  }
}
