import { compareBytes } from '../../api/byte-order.ts';
import { goQuote } from '../../api/go-quote.ts';
import { TerminalError } from '../../core/errors.ts';
import { Turns } from '../../core/platform/turns.ts';
import { rangeProblem, versionText, zeroVersion } from '../../resolver/versions/index.ts';
import {
  type Blob,
  type CatalogConfig,
  type ChannelEntry,
  decodeBundle,
  decodeChannel,
  decodeDeprecations,
  decodePackage,
  type OlmBundle,
  type OlmChannel,
  type OlmDeprecations,
  type OlmPackage,
  ownText,
} from '../blobs/index.ts';
import { type BundleFacts, bundleFacts } from './bundle-facts.ts';
import { type CheckedBlobs, type JudgedBundle, linkedModel } from './linked-model.ts';
import type { ChannelModel, PackageModel } from './model.ts';
import { chainProblem } from './replaces-chain.ts';

/** How many blobs of each kind a catalog has. */
export interface CatalogSize {
  readonly packages: number;
  readonly channels: number;
  readonly bundles: number;
}

/**
 * Validates a catalog like `opm validate`, with its texts; packages, channels and bundles of the
 * tree are in the order of their names. Keeps only name, version and verdict of each bundle.
 * @throws TerminalError
 */
export async function validateCatalog(blobs: AsyncIterable<Blob>): Promise<CatalogSize> {
  const catalog = new JudgedCatalog();
  for await (const blob of blobs) {
    if (blob.schema === 'olm.package') catalog.addPackage(decodePackage(blob));
    if (blob.schema === 'olm.channel') catalog.channels.push(decodeChannel(blob));
    if (blob.schema === 'olm.bundle') catalog.addBundle(decodeBundle(blob));
    if (blob.schema === 'olm.deprecations') catalog.deprecations.push(decodeDeprecations(blob));
  }
  return await catalog.check();
}

/**
 * The same for a catalog in decoded pieces, such as one rendered from a database.
 * @throws TerminalError
 */
export async function validateParts(
  parts: AsyncIterable<CatalogConfig> | Iterable<CatalogConfig>,
): Promise<CatalogSize> {
  const catalog = new JudgedCatalog();
  for await (const part of parts) {
    for (const each of part.packages) catalog.addPackage(each);
    for (const each of part.channels) catalog.channels.push(each);
    for (const each of part.bundles) catalog.addBundle(each);
    for (const each of part.deprecations) catalog.deprecations.push(each);
  }
  return await catalog.check();
}

class JudgedCatalog implements CheckedBlobs {
  readonly packages: OlmPackage[] = [];
  readonly channels: OlmChannel[] = [];
  readonly bundles: JudgedBundle[] = [];
  readonly deprecations: OlmDeprecations[] = [];

  /** Drops icons and descriptions, which are large, and which no check reads. */
  addPackage({ schema, ...added }: OlmPackage): void {
    const [name, defaultChannel] = [ownText(added.name), ownText(added.defaultChannel)];
    this.packages.push({ schema, name, defaultChannel, description: '', properties: [] });
  }

  addBundle(added: OlmBundle): void {
    this.bundles.push(judged(added));
  }

  /** @throws TerminalError */
  async check(): Promise<CatalogSize> {
    const turns = new Turns();
    const faults: (Fault | undefined)[] = [];
    for (const model of sortedByName(linkedModel(this))) {
      faults.push(await packageFault(model, turns));
    }
    const fault = faultOf('invalid index', faults);
    if (fault !== undefined) throw new TerminalError(faultTree(fault));
    const { packages, channels, bundles } = this;
    return { packages: packages.length, channels: channels.length, bundles: bundles.length };
  }
}

/** Checks a bundle when it is read, and keeps the error for its turn in the report. */
function judged(bundle: OlmBundle): JudgedBundle {
  const [owner, name] = [ownText(bundle.package), ownText(bundle.name)];
  try {
    return { package: owner, name, facts: bundleFacts(bundle) };
  } catch (error) {
    if (error instanceof TerminalError) return { package: owner, name, facts: error };
    throw error;
  }
}

async function packageFault(model: PackageModel, turns: Turns): Promise<Fault | undefined> {
  const channels = sortedByName([...model.channels.values()]);
  const faults: (Fault | undefined)[] = [];
  for (const channel of channels) {
    if (turns.isDue) await turns.give();
    faults.push(channelFault(model, channel));
  }
  if (turns.isDue) await turns.give();
  return faultOf(`invalid package ${goQuote(model.name)}`, [
    model.defaultChannel === '' ? 'default channel must be set' : undefined,
    channels.length === 0 ? 'package must contain at least one channel' : undefined,
    ...faults,
    duplicateVersions(model),
    deprecationProblem(model.deprecation),
  ]);
}

function channelFault(model: PackageModel, channel: ChannelModel): Fault | undefined {
  const { name, entries, deprecation } = channel;
  return faultOf(`invalid channel ${goQuote(name)}`, [
    entries.size === 0 ? 'channel must contain at least one bundle' : chainProblem(entries),
    ...sortedByName([...entries.values()]).map((entry) => bundleFault(model, entry)),
    deprecationProblem(deprecation),
  ]);
}

function bundleFault(model: PackageModel, entry: ChannelEntry): Fault | undefined {
  const { name, skips, skipRange } = entry;
  const facts = model.bundles.get(name);
  const range = skipRange === '' ? undefined : rangeProblem(skipRange);
  return faultOf(`invalid bundle ${goQuote(name)}`, [
    name === '' ? 'name must be set' : undefined,
    nameProblem(model, name, facts),
    ...skips.map((skip, index) => (skip === '' ? `skip[${index}] is empty` : undefined)),
    range === undefined ? undefined : `invalid skipRange ${goQuote(skipRange)}: ${range}`,
    facts === undefined ? 'must be exactly one property with type "olm.package"' : undefined,
    facts?.hasContent === true ? undefined : 'bundle image must be set',
    deprecationProblem(model.deprecatedBundles.get(name)),
    facts !== undefined && facts.version.build.length > 0 && facts.release.length > 0
      ? 'cannot use build metadata in version with a release version'
      : undefined,
  ]);
}

/** The name of a bundle with a release consists of package, version and release. */
function nameProblem(model: PackageModel, name: string, facts?: BundleFacts): string | undefined {
  if (facts === undefined || facts.release.length === 0) return undefined;
  const normalized = `${model.name}-v${releasedVersion(facts)}`;
  if (normalized === name) return undefined;
  return `name ${goQuote(name)} does not match normalized name ${goQuote(normalized)}`;
}

function duplicateVersions(model: PackageModel): string | undefined {
  const names = new Map<string, Set<string>>();
  for (const { entries } of model.channels.values()) {
    for (const name of entries.keys()) {
      const facts = model.bundles.get(name);
      const version = facts === undefined ? versionText(zeroVersion) : releasedVersion(facts);
      const same = names.get(version) ?? new Set();
      names.set(version, same.add(name));
    }
  }
  const found = [...names]
    .filter(([, same]) => same.size > 1)
    .sort(([a], [b]) => compareBytes(a, b))
    .map(([version, same]) => `{${version}: [${[...same].sort(compareBytes).join(', ')}]}`);
  return found.length === 0
    ? undefined
    : `duplicate versions found in bundles: [${found.join(' ')}]`;
}

function releasedVersion({ version, release }: BundleFacts): string {
  const text = versionText(version);
  return release.length === 0 ? text : `${text}-${release.join('.')}`;
}

function deprecationProblem(message: string | undefined): string | undefined {
  return message === '' ? 'invalid deprecation: message must be set' : undefined;
}

function sortedByName<T extends { readonly name: string }>(values: readonly T[]): readonly T[] {
  return values.toSorted((a, b) => compareBytes(a.name, b.name));
}

/** An error of a part of a catalog, with the errors of its own parts. */
interface Fault {
  readonly message: string;
  readonly faults: readonly (Fault | string)[];
}

/** A fault of the part; undefined if its checks found nothing. */
function faultOf(
  message: string,
  found: readonly (Fault | string | undefined)[],
): Fault | undefined {
  const faults = found.filter((each) => each !== undefined);
  return faults.length === 0 ? undefined : { message, faults };
}

/** The faults as opm prints them, one per line. */
function faultTree(root: Fault): string {
  return [`${root.message}:`, ...branches(root.faults, '')].join('\n').trim();
}

// No deeper than catalog, package, channel, bundle.
function branches(faults: readonly (Fault | string)[], indent: string): readonly string[] {
  return faults.flatMap((fault, index) => {
    const isLast = index === faults.length - 1;
    const lead = `${indent}${isLast ? '└── ' : '├── '}`;
    if (typeof fault === 'string') return [`${lead}${fault}`];
    const below = `${indent}${isLast ? '    ' : '│   '}`;
    return [`${lead}${fault.message}:`, ...branches(fault.faults, below)];
  });
}
