import { quoted } from '../../../core/errors.ts';
import { shortList } from '../../../core/short-list.ts';
import type { Requirement } from '../requirement.ts';
import type { Found, LintBundle, LintCatalog, LintPackage } from './lint-model.ts';

export function* missingIcon({ own }: LintPackage): Generator<Found> {
  if (own === undefined || own.icon !== undefined) return;
  yield { place: own.place, message: 'it has no icon: consoles show a placeholder' };
}

/** An icon that is no image, or whose type is not the media type in the blob. */
export function* iconType({ own }: LintPackage): Generator<Found> {
  if (own?.icon === undefined) return;
  const { declared, found } = own.icon;
  if (declared === found) return;
  const message = `its icon has media type ${quoted(declared)}, and is ${found || 'no image that opm knows'}`;
  yield { place: own.place, path: ['icon', 'mediatype'], message };
}

export function* missingDescription({ own }: LintPackage): Generator<Found> {
  if (own === undefined || own.hasDescription) return;
  yield { place: own.place, message: 'it has no description' };
}

/** A deprecated channel that subscriptions use by default. */
export function* deprecatedDefaultChannel(checked: LintPackage): Generator<Found> {
  const { own, deprecations } = checked;
  const found = deprecations.find(
    ({ schema, name }) => schema === 'olm.channel' && name === own?.defaultChannel,
  );
  if (own === undefined || found === undefined) return;
  yield {
    place: own.place,
    path: ['defaultChannel'],
    channel: own.defaultChannel,
    message: `its default channel ${quoted(own.defaultChannel)} is deprecated: new installations get it`,
  };
}

/**
 * Images with a tag instead of a digest: their content may change, and a mirror cannot verify it.
 */
export function* imageDigest({ bundles }: LintPackage): Generator<Found> {
  for (const { name, place, tags } of bundles.values()) {
    if (tags.length === 0) continue;
    const images = shortList([...new Set(tags)], 3);
    yield { place, bundle: name, message: `it has images without a digest: ${images}` };
  }
}

/** A bundle without the metadata that consoles show. */
export function* missingMetadata({ bundles }: LintPackage): Generator<Found> {
  for (const { name, place, metadata, hasObjects } of bundles.values()) {
    if (metadata > 0 || hasObjects) continue;
    const message =
      'it has no olm.csv.metadata: consoles show neither its name nor its description';
    yield { place, bundle: name, message };
  }
}

/** Names and properties that `opm serve` refuses, but `opm validate` accepts. */
export function* unservable({ name, own, bundles, others }: LintPackage): Generator<Found> {
  const [place] = [own, ...others].flatMap((each) => each?.place ?? []);
  if (place !== undefined && others.length > 0 && name !== '' && !servedName.test(name)) {
    yield { place, message: `opm serve refuses package name ${quoted(name)} of other schemas` };
  }
  for (const { schema, place } of others) {
    if (servedName.test(schema)) continue;
    yield { place, path: ['schema'], message: `opm serve refuses schema name ${quoted(schema)}` };
  }
  for (const { name, place, metadata } of bundles.values()) {
    if (metadata < 2) continue;
    const message = `it has ${metadata} properties olm.csv.metadata: opm serve expects one at most`;
    yield { place, bundle: name, message };
  }
}

const servedName = /^[a-zA-Z0-9][a-zA-Z0-9._-]*$/;

/** An invalid version range of a required package, which stops OLM's resolver. */
export function* unreadableRange({ bundles }: LintPackage): Generator<Found> {
  for (const { name, place, badRanges } of bundles.values()) {
    for (const { problem, path } of badRanges) {
      const message = `the version range of a required package cannot be read: ${problem}`;
      yield { place, path, bundle: name, message };
    }
  }
}

/** A requirement that no bundle of the catalog meets; one of another catalog may. */
export function* missingDependency(
  { bundles }: LintPackage,
  { providers }: LintCatalog,
): Generator<Found> {
  const met = new Map<Requirement, boolean>();
  const isMet = (requirement: Requirement): boolean => {
    // Any bundle may meet it, or only a cluster can tell: not missing.
    if (requirement.providers === undefined) return true;
    const found = [...requirement.providers].flatMap((each) => providers.get(each) ?? []);
    return found.some((bundle) => requirement.verdict(bundle) !== false);
  };
  const missing = new Map<Requirement, LintBundle[]>();
  for (const bundle of bundles.values()) {
    for (const requirement of new Set(bundle.requires)) {
      const known = met.get(requirement) ?? isMet(requirement);
      met.set(requirement, known);
      if (known) continue;
      const requiring = missing.get(requirement) ?? [];
      requiring.push(bundle);
      missing.set(requirement, requiring);
    }
  }
  for (const [{ text }, [first, ...more]] of missing) {
    if (first === undefined) continue;
    const who = more.length === 0 ? 'it requires' : `it and ${more.length} more bundles require`;
    const message = `${who} ${text}, and no bundle of the catalog meets that`;
    yield { place: first.place, bundle: first.name, message };
  }
}
