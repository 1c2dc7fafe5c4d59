import { compareBytes } from '../../api/byte-order.ts';
import { goQuote } from '../../api/go-quote.ts';
import { TerminalError } from '../../core/errors.ts';
import type {
  ChannelEntry,
  DeprecationEntry,
  OlmChannel,
  OlmDeprecations,
  OlmPackage,
} from '../blobs/index.ts';
import type { BundleFacts } from './bundle-facts.ts';
import type { ChannelModel, PackageModel } from './model.ts';

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const labelPattern = new RegExp(`^${label}$`);
const subdomainPattern = new RegExp(`^${label}(\\.${label})*$`);
const longestPackageName = 63;
const longestMatched = 100_000;

/** Why a package name is invalid, in Kubernetes' words; empty for a valid one. */
function packageNameProblems(name: string): readonly string[] {
  const length =
    Buffer.byteLength(name) > longestPackageName
      ? [`must be no more than ${longestPackageName} characters`]
      : [];
  // V8 matches only texts of up to some megabytes.
  const start = name.slice(0, longestMatched);
  if (labelPattern.test(start)) return length;
  if (subdomainPattern.test(start)) return [...length, 'must not contain dots'];
  return [
    ...length,
    `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${label}')`,
  ];
}

/** A bundle with only its facts, or its error. */
export interface JudgedBundle {
  readonly package: string;
  readonly name: string;
  readonly facts: BundleFacts | TerminalError;
}

/** The checked blobs of a catalog, in the order of reading. */
export interface CheckedBlobs {
  readonly packages: readonly OlmPackage[];
  readonly channels: readonly OlmChannel[];
  readonly bundles: readonly JudgedBundle[];
  readonly deprecations: readonly OlmDeprecations[];
}

/**
 * Links the blobs of a catalog with one another.
 * @throws TerminalError with opm's text for the first blob that does not fit.
 */
export function linkedModel(config: CheckedBlobs): readonly PackageModel[] {
  const packages = new Map<string, PackageModel>();
  for (const each of config.packages) addPackage(packages, each);
  // Entries of the last channel of each package: opm looks only for the bundles of that channel.
  const awaited = new Map<string, Set<string>>();
  for (const each of config.channels) awaited.set(each.package, addChannel(packages, each));
  for (const each of config.bundles) {
    addBundle(packages, each);
    awaited.get(each.package)?.delete(each.name);
  }
  for (const [name, entries] of awaited) {
    if (entries.size === 0) continue;
    const names = [...entries].sort(compareBytes).join(' ');
    throw new TerminalError(
      `no olm.bundle blobs found in package ${goQuote(name)} for olm.channel entries [${names}]`,
    );
  }
  for (const each of packages.values()) addDefaultChannel(each);
  const deprecated = new Set<string>();
  for (const [index, each] of config.deprecations.entries()) {
    deprecate(deprecatedPackage(packages, each, index), each, deprecated);
  }
  return [...packages.values()];
}

function addPackage(packages: Map<string, PackageModel>, { name, defaultChannel }: OlmPackage) {
  if (name === '') throw new TerminalError('config contains package with no name');
  if (packages.has(name)) throw new TerminalError(`duplicate package ${goQuote(name)}`);
  const problems = packageNameProblems(name);
  if (problems.length > 0) {
    throw new TerminalError(`invalid package name ${goQuote(name)}: [${problems.join(' ')}]`);
  }
  packages.set(name, {
    name,
    defaultChannel,
    channels: new Map(),
    bundles: new Map(),
    deprecation: undefined,
    deprecatedBundles: new Map(),
  });
}

function addChannel(packages: ReadonlyMap<string, PackageModel>, channel: OlmChannel): Set<string> {
  const name = goQuote(channel.package);
  const found = packages.get(channel.package);
  if (found === undefined) {
    throw new TerminalError(`unknown package ${name} for channel ${goQuote(channel.name)}`);
  }
  if (channel.name === '') throw new TerminalError(`package ${name} contains channel with no name`);
  if (found.channels.has(channel.name)) {
    throw new TerminalError(`package ${name} has duplicate channel ${goQuote(channel.name)}`);
  }
  const entries = new Map<string, ChannelEntry>();
  for (const entry of channel.entries) {
    if (entries.has(entry.name)) {
      throw new TerminalError(
        `invalid package ${name}, channel ${goQuote(channel.name)}: duplicate entry ${goQuote(entry.name)}`,
      );
    }
    entries.set(entry.name, entry);
  }
  found.channels.set(channel.name, { name: channel.name, entries, deprecation: undefined });
  return new Set(entries.keys());
}

function addBundle(packages: ReadonlyMap<string, PackageModel>, bundle: JudgedBundle): void {
  const name = goQuote(bundle.name);
  if (bundle.package === '') {
    throw new TerminalError(`package name must be set for bundle ${name}`);
  }
  const found = packages.get(bundle.package);
  if (found === undefined) {
    throw new TerminalError(`unknown package ${goQuote(bundle.package)} for bundle ${name}`);
  }
  if (found.bundles.has(bundle.name)) {
    throw new TerminalError(`package ${goQuote(bundle.package)} has duplicate bundle ${name}`);
  }
  if (bundle.facts instanceof TerminalError) throw bundle.facts;
  found.bundles.set(bundle.name, bundle.facts);
  if ([...found.channels.values()].some(({ entries }) => entries.has(bundle.name))) return;
  throw new TerminalError(
    `package ${goQuote(bundle.package)}, bundle ${name} not found in any channel entries`,
  );
}

/** A missing default channel becomes one without bundles. */
function addDefaultChannel({ channels, defaultChannel: name }: PackageModel): void {
  if (name === '' || channels.has(name)) return;
  const empty: ChannelModel = { name, entries: new Map(), deprecation: undefined };
  channels.set(name, empty);
}

function deprecatedPackage(
  packages: ReadonlyMap<string, PackageModel>,
  { package: name }: OlmDeprecations,
  index: number,
): PackageModel {
  if (name === '') {
    throw new TerminalError(`package name must be set for deprecation item ${index}`);
  }
  const found = packages.get(name);
  if (found !== undefined) return found;
  throw new TerminalError(`cannot apply deprecations to an unknown package ${goQuote(name)}`);
}

function deprecate(model: PackageModel, { entries }: OlmDeprecations, seen: Set<string>): void {
  const name = goQuote(model.name);
  if (seen.has(model.name)) {
    throw new TerminalError(`expected a maximum of one deprecation per package: ${name}`);
  }
  seen.add(model.name);
  const references = new Set<string>();
  for (const [index, entry] of entries.entries()) {
    if (entry.reference.schema === '') {
      throw new TerminalError(
        `schema must be set for deprecation entry [${index}] for package ${name}`,
      );
    }
    const reference = referenceText(entry);
    if (references.has(reference)) {
      throw new TerminalError(`duplicate deprecation entry ${reference} for package ${name}`);
    }
    references.add(reference);
    applyDeprecation(model, entry, index);
  }
}

function referenceText({ reference: { schema, name } }: DeprecationEntry): string {
  return `declcfg.PackageScopedReference{Schema:${goQuote(schema)}, Name:${goQuote(name)}}`;
}

function applyDeprecation(model: PackageModel, entry: DeprecationEntry, index: number): void {
  const { schema, name } = entry.reference;
  const owner = `package ${goQuote(model.name)}`;
  switch (schema) {
    case 'olm.bundle':
      if (!model.bundles.has(name)) throw notFound('bundle', name, owner);
      model.deprecatedBundles.set(name, entry.message);
      return;
    case 'olm.channel': {
      const channel = model.channels.get(name);
      if (channel === undefined) throw notFound('channel', name, owner);
      channel.deprecation = entry.message;
      return;
    }
    case 'olm.package':
      if (name !== '') {
        throw new TerminalError(
          `package name must be empty for deprecated ${owner} (specified ${goQuote(name)})`,
        );
      }
      model.deprecation = entry.message;
      return;
    default:
      throw new TerminalError(
        `cannot deprecate object ${referenceText(entry)} referenced by entry ${index} for ${owner}: object schema unknown`,
      );
  }
}

function notFound(kind: 'bundle' | 'channel', name: string, owner: string): TerminalError {
  return new TerminalError(
    `cannot deprecate ${kind} ${goQuote(name)} for ${owner}: ${kind} not found`,
  );
}
