import type { BundleSource } from '../../api/v1alpha1/bundle.ts';
import type { BundleFiles, ContentLimits } from './bundle-files.ts';
import type { Logger } from './logger.ts';
import type { ContentKey } from './store.ts';

/**
 * Reads Secrets of one namespace: the system namespace, or that of the deployment's ServiceAccount,
 * with its permissions.
 */
export interface SecretReader {
  /** For messages: `namespace "team-a"` (default: the system namespace). */
  readonly place?: string | undefined;
  /** Decoded values by key, and the Secret's type; undefined when it does not exist. */
  read(name: string, signal: AbortSignal): Promise<SecretContent | undefined>;
}

/** The content of a Secret. */
export interface SecretContent {
  readonly type: string;
  readonly data: ReadonlyMap<string, Uint8Array>;
  /** Hosts that may receive it, from its annotation; undefined without the annotation. */
  readonly hosts?: readonly string[] | undefined;
}

/** Reads ConfigMaps of the system namespace. */
export interface ConfigMapReader {
  /** The system namespace, for messages. */
  readonly namespace: string;
  /** The values of `data` and `binaryData` by key; undefined when it does not exist. */
  read(name: string, signal: AbortSignal): Promise<ReadonlyMap<string, Uint8Array> | undefined>;
}

/** Memory for content, with a common limit for all fetches of a process. */
export interface ContentMemory {
  /**
   * Waits for so many more bytes; they stay reserved until the content is stored.
   * @throws the reason when they are not available: pass it on.
   */
  take(bytes: number): Promise<void>;
  /**
   * The same memory for a download that fetches of other Bundles wait for too: it outlives this
   * fetch. `signal` ends the download.
   */
  lend?(signal: AbortSignal): LentMemory;
}

/** Memory that stays reserved until its download has ended and released it. */
export interface LentMemory extends Pick<ContentMemory, 'take'> {
  /** Aborted with the download's signal, or when core needs the memory: the download must end. */
  readonly signal: AbortSignal;
  release(): void;
}

/** The context of a fetch besides the Bundle's spec.source. */
export interface SourceContext {
  /** The Bundle whose content is fetched. */
  readonly bundle: ContentKey;
  /** Aborted when the process stops, the Bundle is deleted, or the time limit has passed. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly limits: ContentLimits;
  readonly secrets: SecretReader;
  readonly configMaps: ConfigMapReader;
  /** Call it before reading content into memory, as core's sources do. */
  readonly memory?: ContentMemory | undefined;
}

/** The result of a fetch. */
export interface SourceResult {
  readonly files: BundleFiles;
  /** The same source with a pin of this content: fetching it again gives the same files. */
  readonly resolvedSource: BundleSource;
}

/** How status.resolvedSource identifies a Bundle's content. */
export interface SourcePin {
  /** Digest, commit or version in the source; undefined when its content may change. */
  of(source: BundleSource): string | undefined;
  /** The source with that pin; undefined for an invalid pin. */
  at(source: BundleSource, pin: string): BundleSource | undefined;
  /**
   * The source's place without pin and credentials; undefined without one. Core uses no pin of
   * another place.
   */
  place(source: BundleSource): string | undefined;
}

/** Address of a server, in the parts of a URL. */
export type SourceServer = Pick<URL, 'protocol' | 'hostname' | 'port'>;

/** Properties of a source besides `fetch`. None of its functions throws. */
export interface SourceType {
  /** The value of spec.source.type. */
  readonly type: string;
  /**
   * How core pins content, to fetch the same content again. `immutable`: the content cannot change
   * while a Bundle is unpacked. `digest`: the source cannot name its content, such as ConfigMaps;
   * core notes a digest of the files, and accepts no others for the Bundle.
   */
  readonly pin: SourcePin | 'immutable' | 'digest';
  /**
   * The server of the content. Core limits the unpackings per server, and sends a Secret only to
   * servers in its annotation. Undefined without a server.
   */
  host(source: BundleSource): SourceServer | undefined;
  /** Name of the source's Secret. Without this function the source may read any Secret. */
  secret?(source: BundleSource): string | undefined;
  /** Whether its Secrets list their hosts themselves, such as pull secrets (default: false). */
  readonly secretsListHosts?: boolean;
  /**
   * Whether the content depends only on spec and Secret: Bundles that need it at the same time then
   * share one fetch.
   */
  readonly shareable: boolean;
}

/** A kind of place for bundles' content. */
export interface Source extends SourceType {
  /**
   * Fetches the content.
   * @throws WaitingError to leave the Bundle Pending, TerminalError when only another spec helps;
   * core retries anything else with back-off.
   */
  fetch(source: BundleSource, context: SourceContext): Promise<SourceResult>;
}
