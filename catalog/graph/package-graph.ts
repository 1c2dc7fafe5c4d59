import { compareBytes } from '../../api/byte-order.ts';
import { goQuote } from '../../api/go-quote.ts';
import { TerminalError } from '../../core/errors.ts';
import { shortList } from '../../core/short-list.ts';
import { compareVersions, versionText, zeroVersion } from '../../resolver/versions/index.ts';
import type { OlmChannel, OlmDeprecations } from '../blobs/index.ts';
import { type PackageChannel, packageChannel } from './package-channel.ts';
import type { GraphBundle, UpgradeGraph } from './upgrade-graph.ts';

/** The messages of a package's deprecations. */
class PackageDeprecations {
  readonly ofPackage: string | undefined;
  readonly #channels = new Map<string, string>();
  readonly #bundles = new Map<string, string>();

  constructor(deprecations: readonly OlmDeprecations[], owner: string) {
    const own = deprecations.filter((each) => each.package === owner);
    for (const { reference, message } of own.flatMap(({ entries }) => entries)) {
      if (reference.schema === 'olm.package') this.ofPackage = message;
      if (reference.schema === 'olm.channel') this.#channels.set(reference.name, message);
      if (reference.schema === 'olm.bundle') this.#bundles.set(reference.name, message);
    }
  }

  ofChannel(name: string): string | undefined {
    return this.#channels.get(name);
  }

  ofBundle(name: string): string | undefined {
    return this.#bundles.get(name);
  }
}

/** A bundle in channels of a package: a row of drawings. */
export interface BundleNode {
  readonly name: string;
  /** Undefined if the catalog lacks the bundle, or its version is missing or invalid. */
  readonly version: string | undefined;
  /** Whether the catalog has the bundle's blob. */
  readonly isInCatalog: boolean;
  readonly deprecation: string | undefined;
}

/** The upgrade graph of one package, prepared for drawings. */
export interface PackageGraph {
  readonly package: string;
  readonly defaultChannel: string;
  readonly deprecation: string | undefined;
  /** The default channel, then the others by name. */
  readonly channels: readonly PackageChannel[];
  /** From the highest version to the lowest; those without a version come last. */
  readonly bundles: readonly BundleNode[];
}

/**
 * The graph of a package with the channels `only`, or with all if it is empty.
 * @throws TerminalError for an unknown package or channel
 */
export function packageGraph(
  graph: UpgradeGraph,
  name: string,
  only: readonly string[] = [],
): PackageGraph {
  const found = graph.packages.find((each) => each.name === name);
  if (found === undefined) throw unknownPackage(name, graph);
  const { defaultChannel } = found;
  const deprecations = new PackageDeprecations(graph.deprecations, name);
  const isDefault = (channel: OlmChannel): boolean => channel.name === defaultChannel;
  const channels = chosen(graph, name, only)
    .toSorted((a, b) => compareBytes(a.name, b.name))
    .toSorted((a, b) => Number(isDefault(b)) - Number(isDefault(a)))
    .map((channel) => packageChannel(channel, deprecations.ofChannel(channel.name)));
  const names = new Set(channels.flatMap(({ entries }) => entries.map((entry) => entry.name)));
  const bundles = bundlesOf(graph, name);
  return {
    package: name,
    defaultChannel,
    deprecation: deprecations.ofPackage,
    channels,
    bundles: newestFirst([...names], bundles).map((each) => ({
      name: each,
      version: versionOf(bundles.get(each)),
      isInCatalog: bundles.has(each),
      deprecation: deprecations.ofBundle(each),
    })),
  };
}

function unknownPackage(name: string, { packages }: UpgradeGraph): TerminalError {
  const names = packages.map((each) => each.name).toSorted(compareBytes);
  const known = names.length === 0 ? 'no package' : shortList(names, 10);
  return new TerminalError(`package ${goQuote(name)} not found: the catalog has ${known}`);
}

function chosen(
  { channels }: UpgradeGraph,
  owner: string,
  only: readonly string[],
): readonly OlmChannel[] {
  const own = channels.filter((channel) => channel.package === owner);
  const missing = only.find((name) => own.every((channel) => channel.name !== name));
  if (missing !== undefined) {
    const names = own.map(({ name }) => name).toSorted(compareBytes);
    const known = names.length === 0 ? 'none' : shortList(names, 10);
    throw new TerminalError(
      `package ${goQuote(owner)} has no channel ${goQuote(missing)}: its channels are ${known}`,
    );
  }
  return only.length === 0 ? own : own.filter(({ name }) => only.includes(name));
}

/** Bundles by name; of duplicates, the first. */
function bundlesOf({ bundles }: UpgradeGraph, owner: string): ReadonlyMap<string, GraphBundle> {
  const own = bundles.filter((each) => each.package === owner);
  return new Map(own.toReversed().map((each) => [each.name, each]));
}

function versionOf(bundle: GraphBundle | undefined): string | undefined {
  if (bundle === undefined || bundle.version instanceof TerminalError) return undefined;
  return versionText(bundle.version);
}

function newestFirst(
  names: readonly string[],
  bundles: ReadonlyMap<string, GraphBundle>,
): readonly string[] {
  const keyed = names.map((name) => {
    const version = bundles.get(name)?.version;
    const isKnown = version !== undefined && !(version instanceof TerminalError);
    return { name, isKnown, version: isKnown ? version : zeroVersion };
  });
  return keyed
    .sort(
      (a, b) =>
        Number(b.isKnown) - Number(a.isKnown) ||
        compareVersions(b.version, a.version) ||
        compareBytes(b.name, a.name),
    )
    .map(({ name }) => name);
}
