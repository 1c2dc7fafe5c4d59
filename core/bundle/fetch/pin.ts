import type { Bundle, BundleSource, BundleStatus } from '../../../api/v1alpha1/bundle.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { filesDigest } from '../../content/index.ts';
import type { BundleFiles } from '../../contracts/bundle-files.ts';
import type { SourcePin, SourceType } from '../../contracts/source.ts';
import { TerminalError } from '../../errors.ts';
import { shortList } from '../../short-list.ts';

/**
 * The pin of a Bundle's content. An annotation records it, empty until it is resolved: a status
 * write never changes metadata, and the webhook protects the annotation. Core trusts the status
 * only without any annotation, because RukPak and earlier versions of core wrote none (ADR 39).
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
 * The pin annotation of a new Bundle; undefined when it needs none. A type that this process does
 * not serve may need one in the process that serves it.
 */
export function unresolvedNote(
  source: BundleSource,
  sources: SourceTypes,
): Record<string, string> | undefined {
  const isKnownLater = !sources.has(source.type) || source.type === 'upload';
  const isUnresolved = isKnownLater || isNoted(source, sources) || isDigested(source, sources);
  return isUnresolved ? { [annotation.pin]: '' } : undefined;
}

/**
 * Whether a source may return other content later: not when its immutable spec pins the content.
 */
export function isNoted(source: BundleSource, sources: SourceTypes): boolean {
  return pinOf(sources, source.type) !== undefined && pinIn(sources, source, source) === undefined;
}

/** Whether only a digest of the files tells the source's content from other content. */
export function isDigested({ type }: BundleSource, sources: SourceTypes): boolean {
  return sources.get(type)?.pin === 'digest';
}

/**
 * Whether fetching the Bundle again returns the same content, or fails: a mutable source needs its
 * pin, and an upload does as well, unless an earlier version of core unpacked it.
 */
export function isPinned(bundle: Bundle, sources: SourceTypes): boolean {
  if (bundle.spec.source.type === 'upload')
    return bundle.metadata.annotations?.[annotation.pin] !== '';
  const { pin } = sources.get(bundle.spec.source.type) ?? {};
  return typeof pin === 'string' || knownPin(bundle, sources) !== undefined;
}

/**
 * The digest of fetched files, for a source whose content has no other name.
 * @throws TerminalError when the Bundle was unpacked from other files.
 */
export function contentDigest(
  { metadata, spec: { source } }: Bundle,
  files: BundleFiles,
  sources: SourceTypes,
): string | undefined {
  if (!isDigested(source, sources)) return undefined;
  const digest = filesDigest(files);
  const noted = metadata.annotations?.[annotation.pin] || digest;
  if (noted === digest) return digest;
  throw new TerminalError(
    `the content has changed since core unpacked this Bundle: it has the digest ${digest}, but ${noted} is expected. Restore the former content of ${named(source)}, or create another Bundle for the new one`,
  );
}

const namedConfigMaps = 5;

function named({ type, configMaps }: BundleSource): string {
  if (configMaps === undefined) return `its source of type ${type}`;
  const names = configMaps.map(({ configMap }) => `"${configMap.name ?? ''}"`);
  return `ConfigMaps ${shortList([...new Set(names)], namedConfigMaps)}`;
}

/**
 * The source to fetch: the spec with its pin.
 * @throws TerminalError when the annotation is not a pin
 */
export function wantedSource(bundle: Bundle, sources: SourceTypes): BundleSource {
  const { source } = bundle.spec;
  const pin = knownPin(bundle, sources);
  return pin === undefined || !isNoted(source, sources) ? source : withPin(sources, source, pin);
}

/**
 * Refuses fetched content that core could not note as this Bundle's, whatever source it comes from.
 * @throws Error that is not terminal: somebody may repair the server of the content.
 */
export function checkPinned(bundle: Bundle, fetched: BundleSource, sources: SourceTypes): void {
  const { source } = bundle.spec;
  if (!isNoted(source, sources)) return;
  if (pinIn(sources, fetched, wantedSource(bundle, sources)) !== undefined) return;
  const found = pinIn(sources, fetched, source);
  const problem =
    found === undefined
      ? 'content without a pin: its resolvedSource must have one, and the place of spec.source'
      : `other content than core asked for: it has the pin ${shown(found)}, but the pin of this Bundle is ${shown(knownPin(bundle, sources))}`;
  throw new Error(`source type "${source.type}" returned ${problem}`);
}

function shown(pin = ''): string {
  return JSON.stringify(pin.slice(0, 100));
}

/** The status, with the Bundle's real resolved source instead of a different one. */
export function withKnownPin(bundle: Bundle, sources: SourceTypes): BundleStatus {
  const { spec, status = {} } = bundle;
  const { resolvedSource, ...rest } = status;
  const known = knownPin(bundle, sources);
  if (!isNoted(spec.source, sources) || pinIn(sources, resolvedSource, spec.source) === known)
    return status;
  try {
    return known === undefined ? rest : { ...rest, resolvedSource: wantedSource(bundle, sources) };
  } catch {
    // The fetch reports an invalid annotation.
    return rest;
  }
}

/** Sources of this process, by spec.source.type. */
export type SourceTypes = ReadonlyMap<string, SourceType>;

function pinOf(sources: SourceTypes, type: string): SourcePin | undefined {
  const { pin } = sources.get(type) ?? {};
  return typeof pin === 'object' ? pin : undefined;
}

/** Digest, commit or version of `pinned`, if it is at the same place as the spec. */
export function pinIn(
  sources: SourceTypes,
  pinned: BundleSource | undefined,
  spec: BundleSource,
): string | undefined {
  const pin = pinOf(sources, spec.type);
  if (pinned?.type !== spec.type || pin === undefined) return undefined;
  const place = pin.place(spec);
  if (place === undefined || pin.place(pinned) !== place) return undefined;
  const found = pin.of(pinned);
  const wanted = pin.of(spec);
  return wanted === undefined || wanted === found ? found : undefined;
}

/** The pin of a resolved source, to note; undefined when the spec has it. */
export function resolvedPin(
  sources: SourceTypes,
  resolved: BundleSource | undefined,
  spec: BundleSource,
): string | undefined {
  return isNoted(spec, sources) ? pinIn(sources, resolved, spec) : undefined;
}

/**
 * The spec with a digest, commit or version. Takes nothing else from other places: RukPak's pins of
 * images lack their pull secret, and only a spec may say where credentials are sent.
 * @throws TerminalError when it is not a pin of the source's type
 */
export function withPin(sources: SourceTypes, spec: BundleSource, text: string): BundleSource {
  const pinned = pinOf(sources, spec.type)?.at(spec, text);
  if (pinned !== undefined && pinIn(sources, pinned, spec) !== undefined) return pinned;
  throw new TerminalError(
    `annotation ${annotation.pin} ${shown(text)} is not valid for a source of type ${spec.type}: restore the value that core has written, or delete this Bundle`,
  );
}
