import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleSource } from '../../../api/v1alpha1/bundle.ts';
import type { BundleFiles, ContentLimits } from '../../contracts/bundle-files.ts';
import type { InputReference } from '../../contracts/provisioner.ts';
import { ContentCollector, type FileTable, pieceBytes } from './frames.ts';
import { type Description, type FromWorker, maxFrameBytes } from './messages.ts';
import { checkObject } from './results.ts';

interface AnswerOptions {
  /** Who answers, for messages. */
  readonly callee: string;
  readonly limits: ContentLimits;
}

/** A message of an answer, with what it brings along. */
interface Received {
  readonly message: FromWorker;
  readonly body: Uint8Array;
  /** Of message and body. */
  readonly bytes: number;
}

/**
 * The result of one call, as it comes in. The process has checked all of it already where it is
 * honest; what passes a limit here comes of one that is not.
 */
export class Answer {
  readonly #options: AnswerOptions;
  readonly #allowance: AnswerAllowance;
  readonly #objects: KubernetesObject[] = [];
  #objectBytes = 0;
  #table: FileTable | undefined;
  #content: ContentCollector | undefined;
  #resolvedSource: BundleSource | undefined;
  #references: readonly InputReference[] = [];
  #description: Description | undefined;

  constructor(options: AnswerOptions) {
    this.#options = options;
    this.#allowance = new AnswerAllowance(options.limits);
  }

  /** @throws Error where the message is not what may come next. */
  add({ message, body, bytes }: Received): void {
    this.#allowance.count(bytes);
    switch (message.type) {
      case 'files':
        return this.#addTable(message.files);
      case 'content':
        return this.#addContent(body);
      case 'resolved':
        this.#resolvedSource = message.source;
        return;
      case 'objects':
        return this.#addObjects(message.objects, bytes);
      case 'inputs':
        this.#references = message.references as readonly InputReference[];
        return;
      case 'description':
        this.#description = message;
        return;
      default:
        // What it was given, or none of the result's.
        return;
    }
  }

  /** What a bundle or configure handler returned; undefined where it was what it had been given. */
  files(): BundleFiles | undefined {
    if (this.#table === undefined) return undefined;
    const content = this.#content ?? this.#collector(this.#table);
    if (!content.complete) throw new Error('not all of its files have come');
    return content.files();
  }

  /** What a source says that it fetched. */
  get resolvedSource(): BundleSource | undefined {
    return this.#resolvedSource;
  }

  /** What an inputs handler returned. */
  references(): readonly InputReference[] {
    return this.#references;
  }

  /** What a deployment handler returned. */
  objects(): readonly KubernetesObject[] {
    return this.#objects;
  }

  /** What a module says of itself. */
  get description(): Description | undefined {
    return this.#description;
  }

  #addTable({ paths, sizes, directories }: FileTable): void {
    if (this.#content !== undefined)
      throw new Error('files arrive after the content of other files');
    if (paths.length !== sizes.length) throw new Error('not each of its files has a size');
    const known = this.#table;
    this.#table = {
      paths: [...(known?.paths ?? []), ...paths],
      sizes: [...(known?.sizes ?? []), ...sizes],
      directories: [...(known?.directories ?? []), ...directories],
    };
    const entries = this.#table.paths.length + this.#table.directories.length;
    if (entries > this.#options.limits.maxEntries) throw new Error('it has too many files');
  }

  #addContent(body: Uint8Array): void {
    if (this.#table === undefined) throw new Error('content comes before its files are named');
    this.#content ??= this.#collector(this.#table);
    this.#content.add(body);
  }

  #collector(table: FileTable): ContentCollector {
    const bytes = table.sizes.reduce((sum, size) => sum + size, 0);
    if (bytes > this.#options.limits.maxBytes) throw new Error('its files are too large');
    return new ContentCollector(table);
  }

  #addObjects(objects: readonly unknown[], bytes: number): void {
    const { callee, limits } = this.#options;
    this.#objectBytes += bytes;
    if (this.#objectBytes > 2 * limits.maxBytes) throw new Error('its objects are too large');
    if (this.#objects.length + objects.length > limits.maxEntries) {
      throw new Error('it has too many objects');
    }
    for (const object of objects) {
      this.#objects.push(checkObject(object, { callee, index: this.#objects.length }));
    }
  }
}

/** Messages of an answer that has next to nothing in it. */
const fewMessages = 100;

/** More than the longest path takes, of what stands around it in a table of files. */
const entryBytes = 100;

/**
 * What one answer may be at most, whatever it consists of: reading what a process sends without an
 * end would leave the manager no time for anybody else.
 */
class AnswerAllowance {
  readonly #most: { readonly messages: number; readonly bytes: number };
  #messages = 0;
  #bytes = 0;

  constructor({ maxBytes, maxEntries, maxPathLength }: ContentLimits) {
    this.#most = {
      messages: fewMessages + maxEntries + Math.ceil((2 * maxBytes) / pieceBytes),
      bytes: maxFrameBytes + 2 * maxBytes + maxEntries * (entryBytes + maxPathLength),
    };
  }

  /** @throws Error where it is too much. */
  count(bytes: number): void {
    this.#messages += 1;
    this.#bytes += bytes;
    if (this.#messages > this.#most.messages) throw new Error('it has too many messages');
    if (this.#bytes > this.#most.bytes) throw new Error('it is too large');
  }
}
