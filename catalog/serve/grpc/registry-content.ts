import { type FileHandle, open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { compareBytes } from '../../../api/byte-order.ts';
import { type Blob, blobOfValue } from '../../blobs/index.ts';
import type { StoredCatalog } from '../../index/index.ts';
import { toConfig } from '../../load/index.ts';
import { type BundleParts, bundleManifests } from './bundle-message.ts';
import { protocol } from './protocol.ts';

const partsFile = 'bundles.pb';
const packagesFile = 'packages.json';

/** Bytes to gather before a write. */
const pieceSize = 1024 * 1024;

const size = z.int().min(0);
const keptBundle = z.object({
  /** Number of its blob in the stored catalog. */
  blob: size,
  start: size,
  /** Sizes of the parts in bytes; the file has them one after the other. */
  identity: size,
  properties: size,
  hasImage: z.boolean(),
  provides: z.array(z.object({ group: z.string(), version: z.string(), kind: z.string() })),
  deprecation: z.string().optional(),
});
const keptEntry = z.object({
  name: z.string(),
  replaces: z.string(),
  skips: z.array(z.string()),
  skipRange: z.string(),
  bundle: size,
});
const keptChannel = z.object({
  name: z.string(),
  head: z.string(),
  deprecation: z.string().optional(),
  entries: z.array(keptEntry),
});
const keptPackage = z.object({
  name: z.string(),
  blob: size,
  defaultChannel: z.string(),
  deprecation: z.string().optional(),
  channels: z.array(keptChannel),
});
const keptPackages = z.object({ packages: z.array(keptPackage), bundles: z.array(keptBundle) });

/** The stored data of a package: its graph. `bundle` is the number of a bundle. */
export type PackageFacts = z.infer<typeof keptPackage>;
export type ChannelFacts = z.infer<typeof keptChannel>;
export type EntryFacts = z.infer<typeof keptEntry>;
type BundleFacts = z.infer<typeof keptBundle>;

/** An entry of a channel, called a bundle in gRPC. */
export interface RegistryEntry {
  readonly package: PackageFacts;
  readonly channel: ChannelFacts;
  readonly entry: EntryFacts;
}

/** Writes the content of gRPC answers into a directory, bundle by bundle. */
export class RegistryWriter implements AsyncDisposable {
  readonly #directory: string;
  readonly #file: FileHandle;
  readonly #bundles: BundleFacts[] = [];
  #gathered: Uint8Array[] = [];
  #written = 0;
  #end = 0;

  private constructor(directory: string, file: FileHandle) {
    this.#directory = directory;
    this.#file = file;
  }

  static async create(directory: string): Promise<RegistryWriter> {
    return new RegistryWriter(directory, await open(join(directory, partsFile), 'w'));
  }

  /** Resolves with the number of the bundle. */
  async add(
    parts: BundleParts,
    about: Pick<BundleFacts, 'blob' | 'hasImage'> & { readonly deprecation: string | undefined },
  ): Promise<number> {
    const kept: BundleFacts = {
      start: this.#end,
      identity: parts.identity.length,
      properties: parts.properties.length,
      ...about,
      provides: [...parts.provides],
    };
    this.#gathered.push(parts.identity, parts.properties);
    this.#end = endOf(kept);
    if (this.#end - this.#written >= pieceSize) await this.#write();
    return this.#bundles.push(kept) - 1;
  }

  async finish(packages: readonly PackageFacts[]): Promise<void> {
    await this.#write();
    const kept = { packages, bundles: this.#bundles };
    await writeFile(join(this.#directory, packagesFile), JSON.stringify(kept));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }

  async #write(): Promise<void> {
    const bytes = Buffer.concat(this.#gathered);
    this.#gathered = [];
    this.#written = this.#end;
    await this.#file.writeFile(bytes);
  }
}

/**
 * The content of gRPC answers in a directory that a `RegistryWriter` has written. Bundles stay on
 * disk: their manifests, which few requests ask for, only as blobs of the stored catalog.
 */
export class RegistryContent implements AsyncDisposable {
  readonly packages: ReadonlyMap<string, PackageFacts>;
  readonly #bundles: readonly BundleFacts[];
  readonly #blobs: StoredCatalog;
  readonly #file: FileHandle;
  #listed: readonly RegistryEntry[] | undefined;

  private constructor(
    { blobs, file }: { readonly blobs: StoredCatalog; readonly file: FileHandle },
    kept: z.infer<typeof keptPackages>,
  ) {
    this.#blobs = blobs;
    this.#file = file;
    this.#bundles = kept.bundles;
    this.packages = new Map(kept.packages.map((each) => [each.name, each]));
  }

  /** @throws Error for a directory without complete content */
  static async open(directory: string, blobs: StoredCatalog): Promise<RegistryContent> {
    const text = await readFile(join(directory, packagesFile), 'utf8');
    const kept = keptPackages.parse(JSON.parse(text));
    const file = await open(join(directory, partsFile));
    const { size: found } = await file.stat();
    const last = kept.bundles.at(-1);
    if (found === (last === undefined ? 0 : endOf(last)))
      return new RegistryContent({ blobs, file }, kept);
    await file.close();
    throw new Error(`${partsFile} and ${packagesFile} differ in size`);
  }

  /** All entries, by channel, package and name, as opm lists them. */
  entries(): readonly RegistryEntry[] {
    this.#listed ??= [...this.packages.values()]
      .flatMap((owner) =>
        owner.channels.flatMap((channel) =>
          channel.entries.map((entry) => ({ package: owner, channel, entry })),
        ),
      )
      .toSorted(byChannel);
    return this.#listed;
  }

  provides({ entry }: RegistryEntry): BundleFacts['provides'] {
    return this.#bundle(entry).provides;
  }

  /**
   * The message `api.Bundle` of an entry. In a list, it has replaces and skips, and manifests only
   * if the bundle has no image; alone, it has manifests, but neither replaces nor skips.
   */
  async message(at: RegistryEntry, form: 'listed' | 'alone'): Promise<Uint8Array> {
    const { entry, channel } = at;
    const bundle = this.#bundle(entry);
    const withManifests = form === 'alone' || !bundle.hasImage;
    const manifests = withManifests ? await this.#manifests(at) : noBytes;
    const stored = await this.#read(bundle.start, endOf(bundle));
    const { skipRange, replaces, skips } = entry;
    const edges = form === 'listed' ? { replaces, skips } : {};
    const deprecation =
      bundle.deprecation === undefined ? {} : { deprecation: { message: bundle.deprecation } };
    return Buffer.concat([
      encoded({ csvName: entry.name, packageName: at.package.name, channelName: channel.name }),
      manifests,
      stored.subarray(0, bundle.identity),
      encoded({ skipRange }),
      stored.subarray(bundle.identity),
      encoded({ ...edges, ...deprecation }),
    ]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }

  #bundle({ bundle }: EntryFacts): BundleFacts {
    const found = this.#bundles[bundle];
    if (found === undefined) throw new Error(`no bundle ${bundle}`);
    return found;
  }

  async #manifests({ package: owner, entry }: RegistryEntry): Promise<Uint8Array> {
    const blobs: Blob[] = [];
    const numbers = [owner.blob, this.#bundle(entry).blob];
    for await (const { value } of this.#blobs.blobs(numbers)) blobs.push(blobOfValue(value));
    const { packages, bundles } = await toConfig(blobs);
    const [about, bundle] = [packages[0], bundles[0]];
    if (about === undefined || bundle === undefined) throw new Error('the stored catalog differs');
    return bundleManifests(bundle, about);
  }

  async #read(start: number, end: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(end - start);
    const { bytesRead } = await this.#file.read(bytes, 0, bytes.length, start);
    if (bytesRead !== bytes.length) throw new Error('the stored bundles were cut while served');
    return bytes;
  }
}

function endOf({ start, identity, properties }: BundleFacts): number {
  return start + identity + properties;
}

const noBytes = Buffer.alloc(0);
function encoded(fields: Readonly<Record<string, unknown>>): Uint8Array {
  return protocol.encode('api.Bundle', fields);
}

function byChannel(a: RegistryEntry, b: RegistryEntry): number {
  return (
    compareBytes(a.channel.name, b.channel.name) ||
    compareBytes(a.package.name, b.package.name) ||
    compareBytes(a.entry.name, b.entry.name)
  );
}
