import type { KubernetesObject } from '../../../api/meta.ts';
import type { ContentLimits } from '../../contracts/bundle-files.ts';
import type { Logger } from '../../contracts/logger.ts';
import type { FileTable } from './content-transfer.ts';
import type { Thrown } from './thrown.ts';

/**
 * What manager and worker process tell each other, one call at a time. Whatever may be large goes
 * in pieces, so that neither side is held up by one message.
 */
export type ToWorker = CallMessage | ContentMessage | AbortMessage;
export type FromWorker = LogMessage | FilesMessage | ContentMessage | ObjectsMessage | EndMessage;

export type HandlerName = 'bundle' | 'deployment';

/** Begins a call; it runs once the content of its files has followed. */
export interface CallMessage {
  readonly type: 'call';
  /** URL of the provisioner's module. */
  readonly module: string;
  readonly handler: HandlerName;
  /** The Bundle or BundleDeployment. */
  readonly object: KubernetesObject;
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

/** A bundle handler's result: the files that it was given, or others whose content follows. */
export interface FilesMessage {
  readonly type: 'files';
  readonly files: FileTable | 'unchanged';
}

/** The next objects of a deployment handler's result. */
export interface ObjectsMessage {
  readonly type: 'objects';
  readonly objects: readonly KubernetesObject[];
}

/** Ends a call, after its whole result. */
export interface EndMessage {
  readonly type: 'end';
  readonly error?: Thrown;
}
