import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleSource } from '../../../api/v1alpha1/bundle.ts';
import type { BundleFiles, ContentLimits } from '../../contracts/bundle-files.ts';
import type { InputReference } from '../../contracts/provisioner.ts';
import { ContentCollector, type FileTable, pieceBytes } from './protocol/frames.ts';
import { type Description, type FromWorker, maxFrameBytes } from './protocol/messages.ts';
import { checkObject } from './results.ts';

interface AnswerOptions {
  /** The called class or source, for messages. */
  readonly callee: string;
  readonly limits: ContentLimits;
}

/** A message of an answer, with its body. */
interface Received {
  readonly message: FromWorker;
  readonly body: Uint8Array;
  /** Size of message and body. */
  readonly bytes: number;
}

/**
 * The result of one call, while it arrives. An honest process has checked all of it already; a
 * violation here shows a dishonest one.
 */
export class Answer {
  readonly #options: AnswerOptions;
  readonly #allowance: AnswerAllowance;
  #objects: KubernetesObject[] | undefined;
  #objectBytes = 0;
  #table: FileTable | undefined;
  #content: ContentCollector | undefined;
  #resolvedSource: BundleSource | undefined;
  #references: readonly InputReference[] | undefined;
  #description: Description | undefined;

  constructor(options: AnswerOptions) {
    this.#options = options;
    this.#allowance = new AnswerAllowance(options.limits);
  }

  /** The bytes of all messages so far. */
  get bytes(): number {
    return this.#allowance.bytes;
  }

  /** @throws Error for a message that may not come next. */
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
        // The handler's own input, or no part of the result.
        return;
    }
  }

  /** The files that a bundle or configure handler returned; undefined for its unchanged input. */
  files(): BundleFiles | undefined {
    if (this.#table === undefined) return undefined;
    const content = this.#content ?? this.#collector(this.#table);
    if (!content.complete) throw new Error('not all of its files have come');
    return content.files();
  }

  /** The source that a fetch resolved. */
  get resolvedSource(): BundleSource | undefined {
    return this.#resolvedSource;
  }

  /**
   * The result of an inputs handler.
   * @throws Error when the process has sent none.
   */
  references(): readonly InputReference[] {
    if (this.#references === undefined) throw new Error('the handler returned no inputs');
    return this.#references;
  }

  /**
   * The result of a deployment handler.
   * @throws Error when the process has sent none: all installed objects would be pruned.
   */
  objects(): readonly KubernetesObject[] {
    if (this.#objects === undefined) throw new Error('the handler returned no objects');
    return this.#objects;
  }

  /** The description of a module. */
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
    const known = (this.#objects ??= []);
    if (known.length + objects.length > limits.maxEntries) {
      throw new Error('it has too many objects');
    }
    for (const object of objects) {
      known.push(checkObject(object, { callee, index: known.length }));
    }
  }
}

/** Maximum messages of an almost empty answer. */
const fewMessages = 100;

/** Bytes around each path in a table of files; more than enough. */
const entryBytes = 100;

/**
 * Limits one answer, whatever it consists of: reading an endless answer would leave the manager no
 * time for others.
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

  get bytes(): number {
    return this.#bytes;
  }

  /** @throws Error when the answer exceeds its limit. */
  count(bytes: number): void {
    this.#messages += 1;
    this.#bytes += bytes;
    if (this.#messages > this.#most.messages) throw new Error('it has too many messages');
    if (this.#bytes > this.#most.bytes) throw new Error('it is too large');
  }
}
