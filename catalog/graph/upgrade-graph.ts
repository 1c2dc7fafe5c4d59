import { goQuote } from '../../api/go-quote.ts';
import { errorMessage, TerminalError } from '../../core/errors.ts';
import { parseVersion, type Version, VersionError } from '../../resolver/versions/index.ts';
import type { CatalogConfig, OlmBundle, OlmChannel, OlmDeprecations } from '../blobs/index.ts';
import { packageProperties } from '../validate/index.ts';

/** The upgrade data of a bundle. */
export interface GraphBundle {
  readonly package: string;
  readonly name: string;
  readonly image: string;
  /** Display name of its operator; empty if not requested. */
  readonly displayName: string;
  /** The version, or the error for a missing or invalid one, in opm's words. */
  readonly version: Version | TerminalError;
}

export interface GraphPackage {
  readonly name: string;
  readonly defaultChannel: string;
}

/**
 * The upgrade data of a catalog, much smaller than the catalog: the input of lists and all
 * drawings. Each list has the order of the catalog. Unchecked: names may be missing or duplicate,
 * or form cycles.
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

/** An upgrade graph that collects pieces of a catalog while its caller reads them. */
export class CollectedGraph implements UpgradeGraph {
  readonly packages: GraphPackage[] = [];
  readonly channels: OlmChannel[] = [];
  readonly bundles: GraphBundle[] = [];
  readonly deprecations: OlmDeprecations[] = [];

  /** `displayName` returns the display name of a bundle's operator. */
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
      // opm reports the same for a bundle without one.
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
