import { goQuote } from '../../api/go-quote.ts';
import { errorMessage, TerminalError } from '../../core/errors.ts';
import type { CatalogConfig, OlmBundle, OlmChannel, OlmDeprecations } from '../blobs/index.ts';
import { packageProperties } from '../validate/index.ts';
import { parseVersion, type Version, VersionError } from '../versions/index.ts';

/** A bundle as far as upgrades are concerned. */
export interface GraphBundle {
  readonly package: string;
  readonly name: string;
  readonly image: string;
  /** Or why there is none, in opm's words. */
  readonly version: Version | TerminalError;
}

export interface GraphPackage {
  readonly name: string;
  readonly defaultChannel: string;
}

/**
 * What a catalog says of upgrades: one value that lists and all drawings are made from, much smaller
 * than the catalog. Each list is in the order in which the catalog was read. Nothing is checked: names
 * may be missing, twice, or lead in circles.
 */
export interface UpgradeGraph {
  readonly packages: readonly GraphPackage[];
  readonly channels: readonly OlmChannel[];
  readonly bundles: readonly GraphBundle[];
  readonly deprecations: readonly OlmDeprecations[];
}

/** The upgrade graph of a catalog that is read piece by piece. */
export async function upgradeGraph(
  parts: AsyncIterable<CatalogConfig> | Iterable<CatalogConfig>,
): Promise<UpgradeGraph> {
  const packages: GraphPackage[] = [];
  const channels: OlmChannel[] = [];
  const bundles: GraphBundle[] = [];
  const deprecations: OlmDeprecations[] = [];
  for await (const part of parts) {
    for (const { name, defaultChannel } of part.packages) packages.push({ name, defaultChannel });
    for (const each of part.channels) channels.push(each);
    for (const each of part.bundles) bundles.push(graphBundle(each));
    for (const each of part.deprecations) deprecations.push(each);
  }
  return { packages, channels, bundles, deprecations };
}

function graphBundle(bundle: OlmBundle): GraphBundle {
  const { package: owner, name, image } = bundle;
  return { package: owner, name, image, version: versionOf(bundle) };
}

function versionOf(bundle: OlmBundle): Version | TerminalError {
  const name = goQuote(bundle.name);
  let text: string | undefined;
  try {
    const [property, second] = packageProperties(bundle);
    if (property === undefined || second !== undefined) {
      // opm says so of none, too.
      const problem = 'has multiple "olm.package" properties, expected exactly 1';
      return new TerminalError(`bundle ${name} ${problem}`);
    }
    text = property.version;
    return parseVersion(text);
  } catch (error) {
    if (error instanceof TerminalError) return error;
    if (!(error instanceof VersionError)) throw error;
    const problem = `has invalid version ${goQuote(text ?? '')}: ${errorMessage(error)}`;
    return new TerminalError(`bundle ${name} ${problem}`);
  }
}
