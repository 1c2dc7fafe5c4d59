import type { BundleSource } from '../../api/v1alpha1/bundle.ts';
import type { BundleFiles, ContentLimits } from './bundle-files.ts';
import type { Logger } from './logger.ts';
import type { ContentKey } from './store.ts';

/**
 * Reads Secrets of one namespace, and no others: the system namespace, or that of the deployment's
 * ServiceAccount, with its rights.
 */
export interface SecretReader {
  /** For messages: `namespace "team-a"` (default: the system namespace). */
  readonly place?: string | undefined;
  /** Decoded values by key, and the Secret's type; undefined where there is no such Secret. */
  read(name: string, signal: AbortSignal): Promise<SecretContent | undefined>;
}

/** What a Secret holds. */
export interface SecretContent {
  readonly type: string;
  readonly data: ReadonlyMap<string, Uint8Array>;
  /** Hosts that it may be shown to, as its annotation lists them; undefined where it has none. */
  readonly hosts?: readonly string[] | undefined;
}

/** Reads the ConfigMaps of the system namespace, and no others. */
export interface ConfigMapReader {
  /** The system namespace, for messages. */
  readonly namespace: string;
  /** The values of `data` and `binaryData` by key; undefined where there is no such ConfigMap. */
  read(name: string, signal: AbortSignal): Promise<ReadonlyMap<string, Uint8Array> | undefined>;
}

/** Memory for content, of which all fetches of a process have a bounded amount together. */
export interface ContentMemory {
  /**
   * Waits until so many bytes more may be held; they are until the content is stored.
   * @throws the reason why there are none: to be passed on.
   */
  take(bytes: number): Promise<void>;
}

/** What a fetch is given besides the Bundle's spec.source. */
export interface SourceContext {
  /** The Bundle whose content is fetched. */
  readonly bundle: ContentKey;
  /** Ends the fetch: the process stops, the Bundle is gone, or the time limit passed. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly limits: ContentLimits;
  readonly secrets: SecretReader;
  readonly configMaps: ConfigMapReader;
  /** To ask before content is read into memory, as core's sources do. */
  readonly memory?: ContentMemory | undefined;
}

/** What a fetch gives. */
export interface SourceResult {
  readonly files: BundleFiles;
  /** The same source pinned to exactly this content: fetching it again gives the same files. */
  readonly resolvedSource: BundleSource;
}

/** How status.resolvedSource names the content that a Bundle was unpacked with. */
export interface SourcePin {
  /** Digest, commit or version that the source names; undefined where its content may change. */
  of(source: BundleSource): string | undefined;
  /** The source at that content; undefined where the text is no pin of it. */
  at(source: BundleSource, pin: string): BundleSource | undefined;
  /**
   * The place that the source names, without pin and credentials; undefined where it names none.
   * Core takes no pin of another place.
   */
  place(source: BundleSource): string | undefined;
}

/** Address of a server, in the parts of a URL. */
export type SourceServer = Pick<URL, 'protocol' | 'hostname' | 'port'>;

/** What core must know of a source besides how to fetch. None of it throws. */
export interface SourceType {
  /** The value of spec.source.type that it serves. */
  readonly type: string;
  /**
   * How content is pinned, so that core fetches the same content again. `immutable`: the content
   * cannot change while a Bundle is unpacked, as that of immutable ConfigMaps.
   */
  readonly pin: SourcePin | 'immutable';
  /**
   * The server that the content comes from. Core limits the unpackings per server, and shows a Secret
   * only to servers of its annotation. Undefined where there is none.
   */
  host(source: BundleSource): SourceServer | undefined;
  /**
   * Name of the Secret that the source names. Without this function the source may read any Secret.
   */
  secret?(source: BundleSource): string | undefined;
  /** Whether its Secrets list their hosts themselves, as pull secrets do. Default: false. */
  readonly secretsListHosts?: boolean;
  /**
   * Whether the content depends on spec and Secret alone: Bundles that need it at the same time then
   * share one fetch.
   */
  readonly shareable: boolean;
}

/** One way to get a bundle's content. */
export interface Source extends SourceType {
  /**
   * Fetches the content.
   * @throws WaitingError to leave the Bundle Pending, TerminalError where only another spec helps;
   * core retries anything else with back-off.
   */
  fetch(source: BundleSource, context: SourceContext): Promise<SourceResult>;
}
