import { TerminalError } from '../../../core/errors.ts';
import type {
  Blob,
  CatalogConfig,
  OlmBundle,
  OlmChannel,
  OlmDeprecations,
  OlmPackage,
} from '../../blobs/index.ts';
import { toConfig } from '../../load/index.ts';
import { channelHeads } from '../../validate/index.ts';
import { bundleParts } from './bundle-message.ts';
import type { PackageFacts, RegistryWriter } from './registry-content.ts';

/**
 * Collects the gRPC answers of one package while validation reads its blobs: package, channels and
 * deprecations come before the bundles, which do not stay in memory.
 */
export class PackageDraft {
  readonly #writer: RegistryWriter;
  readonly #channels: OlmChannel[] = [];
  readonly #bundles = new Map<string, number>();
  readonly #deprecations = new Map<string, string>();
  #owner: OlmPackage | undefined;
  #failure: TerminalError | undefined;

  constructor(writer: RegistryWriter) {
    this.#writer = writer;
  }

  /**
   * Decodes the blobs. Keeps the first problem of serving them for `finish`: validation has better
   * messages.
   */
  async *observe(blobs: AsyncIterable<Blob>): AsyncGenerator<CatalogConfig> {
    for await (const blob of blobs) {
      const part = await toConfig([blob]);
      try {
        await this.#add(part);
      } catch (error) {
        if (!(error instanceof TerminalError)) throw error;
        this.#failure ??= error;
      }
      yield part;
    }
  }

  /** @throws TerminalError for a valid package that cannot be served */
  finish(): PackageFacts {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#owner === undefined) throw new TerminalError('no olm.package');
    const { name, defaultChannel } = this.#owner;
    return {
      name,
      defaultChannel,
      channels: this.#channels.map((channel) => ({
        name: channel.name,
        head: channelHeads(new Map(channel.entries.map((each) => [each.name, each])))[0] ?? '',
        ...this.#deprecation('olm.channel', channel.name),
        entries: channel.entries.map(({ name: entry, replaces, skips, skipRange }) => {
          const bundle = this.#bundles.get(entry) ?? 0;
          return { name: entry, replaces, skips: [...skips], skipRange, bundle };
        }),
      })),
      ...this.#deprecation('olm.package', ''),
    };
  }

  async #add({ packages, channels, deprecations, bundles }: CatalogConfig): Promise<void> {
    for (const each of packages) this.#owner = each;
    for (const each of channels) this.#channels.push(each);
    for (const each of deprecations) this.#deprecate(each);
    for (const each of bundles) await this.#addBundle(each);
  }

  #deprecate({ entries }: OlmDeprecations): void {
    for (const { reference, message } of entries) {
      this.#deprecations.set(`${reference.schema} ${reference.name}`, message);
    }
  }

  #deprecation(schema: string, name: string): { readonly deprecation?: string } {
    const deprecation = this.#deprecations.get(`${schema} ${name}`);
    return deprecation === undefined ? {} : { deprecation };
  }

  async #addBundle(bundle: OlmBundle): Promise<void> {
    const owner = this.#owner;
    if (owner === undefined) return;
    const parts = bundleParts(bundle, owner);
    const { deprecation } = this.#deprecation('olm.bundle', bundle.name);
    const about = { hasImage: bundle.image !== '', deprecation };
    this.#bundles.set(bundle.name, await this.#writer.add(parts, about));
  }
}
