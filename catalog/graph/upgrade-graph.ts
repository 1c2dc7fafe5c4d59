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
  /** What people call its operator; empty where nobody asked for it. */
  readonly displayName: string;
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
  const graph = new CollectedGraph();
  for await (const part of parts) graph.add(part);
  return graph;
}

/** An upgrade graph that grows with each piece of a catalog that somebody else reads, too. */
export class CollectedGraph implements UpgradeGraph {
  readonly packages: GraphPackage[] = [];
  readonly channels: OlmChannel[] = [];
  readonly bundles: GraphBundle[] = [];
  readonly deprecations: OlmDeprecations[] = [];

  /** `displayName` is asked for what people call the operator of a bundle. */
  add(part: CatalogConfig, displayName: (bundle: OlmBundle) => string = () => ''): void {
    for (const { name, defaultChannel } of part.packages) {
      this.packages.push({ name, defaultChannel });
    }
    for (const each of part.channels) this.channels.push(each);
    for (const each of part.bundles) this.bundles.push(graphBundle(each, displayName(each)));
    for (const each of part.deprecations) this.deprecations.push(each);
  }
}

function graphBundle(bundle: OlmBundle, displayName: string): GraphBundle {
  const { package: owner, name, image } = bundle;
  return { package: owner, name, image, displayName, version: versionOf(bundle) };
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
