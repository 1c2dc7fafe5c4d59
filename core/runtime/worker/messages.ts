import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleSource } from '../../../api/v1alpha1/bundle.ts';
import type { ContentLimits } from '../../contracts/bundle-files.ts';
import type { Logger } from '../../contracts/logger.ts';
import type { DeploymentContext, InputReference } from '../../contracts/provisioner.ts';
import type { SecretContent } from '../../contracts/source.ts';
import type { ContentKey } from '../../contracts/store.ts';
import type { FileTable } from './content-transfer.ts';
import type { Thrown } from './thrown.ts';

/**
 * What manager and worker process tell each other, one call at a time. Whatever may be large goes
 * in pieces, so that neither side is held up by one message.
 */
export type ToWorker = CallMessage | ContentMessage | AbortMessage;
export type FromWorker =
  | LogMessage
  | FilesMessage
  | ContentMessage
  | ObjectsMessage
  | InputsMessage
  | EndMessage;

/** A provisioner's handlers, and what a source does. */
export type HandlerName = 'bundle' | 'deployment' | 'inputs' | 'fetch';

/** What a deployment handler is given besides content and object. */
export type GivenFacts = Pick<DeploymentContext, 'inputs' | 'cluster' | 'seed'>;

/** What a source in a worker process is given of its context. */
export interface FetchOrigin {
  readonly bundle: ContentKey;
  /** The Secrets that the source names, as far as they exist. */
  readonly secrets: ReadonlyMap<string, SecretContent>;
  /** Of the source itself. */
  readonly settings: object;
}

/** Begins a call; it runs once the content of its files has followed. */
export interface CallMessage {
  readonly type: 'call';
  /** URL of the provisioner's or source's module. */
  readonly module: string;
  readonly handler: HandlerName;
  /** The Bundle or BundleDeployment; for `fetch` a source. */
  readonly object: KubernetesObject | BundleSource;
  /** For `fetch`. */
  readonly origin?: FetchOrigin;
  /** For `deployment`. */
  readonly facts?: GivenFacts;
  readonly limits: ContentLimits;
  readonly files: FileTable;
}

/** The next bytes of the files of the last table. */
export interface ContentMessage {
  readonly type: 'content';
  readonly parts: readonly Uint8Array[];
}

export interface AbortMessage {
  readonly type: 'abort';
  readonly reason: Thrown;
}

export interface LogMessage {
  readonly type: 'log';
  readonly level: Exclude<keyof Logger, 'child'>;
  readonly fields: object;
  readonly message: string;
}

/** The files of a result: those that the handler was given, or others whose content follows. */
export interface FilesMessage {
  readonly type: 'files';
  readonly files: FileTable | 'unchanged';
  /** What was fetched. */
  readonly resolvedSource?: BundleSource;
}

/** The next objects of a deployment handler's result. */
export interface ObjectsMessage {
  readonly type: 'objects';
  readonly objects: readonly KubernetesObject[];
}

/** What an inputs handler asks for. */
export interface InputsMessage {
  readonly type: 'inputs';
  readonly references: readonly InputReference[];
}

/** Ends a call, after its whole result. */
export interface EndMessage {
  readonly type: 'end';
  readonly error?: Thrown;
}
