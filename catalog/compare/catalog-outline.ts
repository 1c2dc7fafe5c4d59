import { goQuote } from '../../api/go-quote.ts';
import { readVersion, type Version } from '../../resolver/versions/index.ts';
import {
  type Blob,
  BlobError,
  type ChannelEntry,
  decodeBundle,
  decodeChannel,
  decodePackage,
  type OlmBundle,
  type Property,
} from '../blobs/index.ts';
import { type Requirement, Requirements } from './requirement.ts';
import { textAt } from './written-fields.ts';

/** The names, edges and dependencies of a package: a small part of its blobs. */
export interface PackageOutline {
  readonly name: string;
  readonly defaultChannel: string;
  readonly channels: ReadonlyMap<string, ChannelOutline>;
  readonly bundles: ReadonlyMap<string, BundleOutline>;
}

export interface ChannelOutline {
  readonly name: string;
  /** By name, in the order of the blob. */
  readonly entries: ReadonlyMap<string, ChannelEntry>;
}

export interface BundleOutline {
  readonly name: string;
  readonly package: string;
  /** Undefined if missing or invalid. */
  readonly version: Version | undefined;
  /** Its package, APIs and labels, in the form of `Requirement.providers`. */
  readonly provides: ReadonlySet<string>;
  readonly requires: readonly Requirement[];
}

/**
 * The names, edges and dependencies of a catalog's packages, by package name.
 * @throws BlobError for an unreadable blob or a duplicate name
 */
export async function outlineOf(
  blobs: AsyncIterable<Blob>,
): Promise<ReadonlyMap<string, PackageOutline>> {
  const outline = new CatalogOutline();
  for await (const blob of blobs) outline.add(blob);
  return outline.packages();
}

interface OpenPackage extends PackageOutline {
  /** Empty until the package's blob arrives, which may come last. */
  defaultChannel: string;
  isDeclared: boolean;
  readonly channels: Map<string, ChannelOutline>;
  readonly bundles: Map<string, BundleOutline>;
}

class CatalogOutline {
  readonly #packages = new Map<string, OpenPackage>();
  readonly #requirements = new Requirements();

  add(blob: Blob): void {
    if (blob.schema === 'olm.package') this.#addPackage(blob);
    if (blob.schema === 'olm.channel') this.#addChannel(blob);
    if (blob.schema === 'olm.bundle') this.#addBundle(blob);
  }

  /** The packages that have an `olm.package` blob. */
  packages(): ReadonlyMap<string, PackageOutline> {
    return new Map([...this.#packages].filter(([, { isDeclared }]) => isDeclared));
  }

  #addPackage(blob: Blob): void {
    const { name, defaultChannel } = decodePackage(blob);
    const found = this.#package(name);
    if (found.isDeclared) throw new BlobError(`duplicate package ${goQuote(name)}`, blob.place);
    found.isDeclared = true;
    found.defaultChannel = defaultChannel;
  }

  #addChannel(blob: Blob): void {
    const { package: owner, name, entries } = decodeChannel(blob);
    const { channels } = this.#package(owner);
    if (channels.has(name)) throw duplicate('channel', blob);
    channels.set(name, { name, entries: new Map(entries.map((entry) => [entry.name, entry])) });
  }

  #addBundle(blob: Blob): void {
    const bundle = decodeBundle(blob);
    const { bundles } = this.#package(bundle.package);
    if (bundles.has(bundle.name)) throw duplicate('bundle', blob);
    bundles.set(bundle.name, bundleOutline(bundle, this.#requirements));
  }

  #package(name: string): OpenPackage {
    const found = this.#packages.get(name) ?? {
      name,
      defaultChannel: '',
      isDeclared: false,
      channels: new Map(),
      bundles: new Map(),
    };
    this.#packages.set(name, found);
    return found;
  }
}

export function bundleOutline(bundle: OlmBundle, requirements: Requirements): BundleOutline {
  const { name, package: owner, properties } = bundle;
  return {
    name,
    package: owner,
    version: versionOf(bundle),
    provides: new Set([`package/${owner}`, ...properties.flatMap(provided)]),
    requires: properties.flatMap((property) => requirements.of(property) ?? []),
  };
}

function duplicate(kind: 'channel' | 'bundle', { package: owner, name, place }: Blob): BlobError {
  return new BlobError(`package ${goQuote(owner)} has duplicate ${kind} ${goQuote(name)}`, place);
}

/** The version in a bundle's `olm.package` property; undefined if missing or invalid. */
export function versionOf({ properties }: OlmBundle): Version | undefined {
  const property = properties.find(({ type }) => type === 'olm.package');
  return readVersion(textAt(property?.value, 'version'));
}

function provided({ type, value }: Property): readonly string[] {
  const text = (name: string) => textAt(value, name);
  if (type === 'olm.gvk') return [`gvk/${text('group')}/${text('version')}/${text('kind')}`];
  return type === 'olm.label' ? [`label/${text('label')}`] : [];
}
