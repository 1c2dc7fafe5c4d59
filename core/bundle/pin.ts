import type { Bundle, BundleSource, BundleStatus } from '../../api/v1alpha1/bundle.ts';
import { annotation } from '../../api/v1alpha1/labels.ts';
import type { SourceType } from '../contracts/source.ts';
import { TerminalError } from '../errors.ts';

/**
 * Which content a Bundle has is noted in an annotation, empty until it is resolved: writing a status
 * never changes metadata, and the webhook keeps the note as it is. A status is believed only where
 * there is no note at all: RukPak and earlier versions of core wrote none (ADR 39).
 */
function knownPin({ metadata, spec, status }: Bundle, sources: SourceTypes): string | undefined {
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

/** Sources that this process serves, by spec.source.type. */
export type SourceTypes = ReadonlyMap<string, SourceType>;

/** Digest, commit or version of `pinned`, where it is content of the very place that the spec names. */
export function pinIn(
  sources: SourceTypes,
  pinned: BundleSource | undefined,
  spec: BundleSource,
): string | undefined {
  const pin = sources.get(spec.type)?.pin;
  if (pinned?.type !== spec.type || pin === undefined || pin === 'immutable') return undefined;
  const place = pin.place(spec);
  if (place === undefined || pin.place(pinned) !== place) return undefined;
  const found = pin.of(pinned);
  const wanted = pin.of(spec);
  return wanted === undefined || wanted === found ? found : undefined;
}

/**
 * The spec at a digest, commit or version. Nothing but that is ever taken from elsewhere: RukPak's
 * pins of images have lost their pull secret, and only a spec says where credentials go.
 * @throws TerminalError where it is none of the source's type
 */
export function withPin(sources: SourceTypes, spec: BundleSource, text: string): BundleSource {
  const pin = sources.get(spec.type)?.pin;
  const pinned = pin === undefined || pin === 'immutable' ? undefined : pin.at(spec, text);
  if (pinned !== undefined && pinIn(sources, pinned, spec) !== undefined) return pinned;
  throw new TerminalError(
    `annotation ${annotation.pin} ${JSON.stringify(text.slice(0, 100))} is none of a source of type ${spec.type}: put back the value that core has written, or delete this Bundle`,
  );
}
