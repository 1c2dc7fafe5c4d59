import type { BundleSource } from '../../api/v1alpha1/bundle.ts';
import { annotation } from '../../api/v1alpha1/labels.ts';
import type { SourceType } from '../contracts/source.ts';
import { TerminalError } from '../errors.ts';

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
