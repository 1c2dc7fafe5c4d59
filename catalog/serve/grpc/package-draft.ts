import { TerminalError } from '../../../core/errors.ts';
import type {
  Blob,
  CatalogConfig,
  OlmBundle,
  OlmChannel,
  OlmDeprecations,
  OlmPackage,
} from '../../blobs/index.ts';
import { configOf } from '../../load/index.ts';
import { channelHeads } from '../../validate/index.ts';
import { bundleParts } from './bundle-message.ts';
import type { PackageFacts, RegistryWriter } from './registry-content.ts';

/**
 * Collects the gRPC answers of one package while validation reads its blobs: package, channels and
 * deprecations come before the bundles, which do not stay in memory.
 */
export class PackageDraft {
  readonly #writer: RegistryWriter;
  readonly #numbers: readonly number[];
  readonly #channels: OlmChannel[] = [];
  readonly #bundles = new Map<string, number>();
  readonly #deprecations = new Map<string, string>();
  #owner: (OlmPackage & { readonly blob: number }) | undefined;
  #failure: TerminalError | undefined;

  /** `numbers` are those of the blobs that `observe` reads, in their order. */
  constructor(writer: RegistryWriter, numbers: readonly number[]) {
    this.#writer = writer;
    this.#numbers = numbers;
  }

  /**
   * Decodes the blobs. Keeps the first problem of serving them for `finish`: validation has better
   * messages.
   */
  async *observe(blobs: AsyncIterable<Blob>): AsyncGenerator<CatalogConfig> {
    let read = 0;
    for await (const blob of blobs) {
      const part = configOf(blob);
      const number = this.#numbers[read] ?? 0;
      read += 1;
      try {
        await this.#add(part, number);
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
    const { name, defaultChannel, blob } = this.#owner;
    return {
      name,
      blob,
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

  async #add(
    { packages, channels, deprecations, bundles }: CatalogConfig,
    blob: number,
  ): Promise<void> {
    for (const each of packages) this.#owner = { ...each, blob };
    for (const each of channels) this.#channels.push(each);
    for (const each of deprecations) this.#deprecate(each);
    for (const each of bundles) await this.#addBundle(each, blob);
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

  async #addBundle(bundle: OlmBundle, blob: number): Promise<void> {
    const parts = bundleParts(bundle);
    const { deprecation } = this.#deprecation('olm.bundle', bundle.name);
    const about = { blob, hasImage: bundle.image !== '', deprecation };
    this.#bundles.set(bundle.name, await this.#writer.add(parts, about));
  }
}
