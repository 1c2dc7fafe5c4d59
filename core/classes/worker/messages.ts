import { z } from 'zod';
import { record } from '../../../api/record.ts';
import type { ContentLimits } from '../../contracts/bundle-files.ts';
import type { DeploymentContext } from '../../contracts/provisioner.ts';
import type { SecretContent } from '../../contracts/source.ts';
import type { ContentKey } from '../../contracts/store.ts';
import type { FileTable } from './content-transfer.ts';
import type { Thrown } from './thrown.ts';

/**
 * What the manager tells a worker process, one call at a time. Whatever may be large goes in
 * pieces, so that neither side is held up by one message.
 */
export type ToWorker = CallMessage | ContentMessage | AbortMessage;

/** An object may have the three mebibytes that the API server takes, and comes with smaller ones. */
export const maxFrameBytes = 5 * 1024 * 1024;

/** A provisioner's handlers, what a source or judge does, and the question what a module serves. */
export type HandlerName =
  | 'bundle'
  | 'configure'
  | 'deployment'
  | 'inputs'
  | 'fetch'
  | 'judge'
  | 'describe';

/** What `configure` and `deployment` are given besides content and object. */
export type GivenFacts = Pick<DeploymentContext, 'inputs' | 'cluster' | 'seed' | 'installed'>;

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
  /** Who is called, for messages: `class "acme"`. */
  readonly callee: string;
  readonly handler: HandlerName;
  /** The Bundle or BundleDeployment; for `fetch` a source, for `judge` rules. */
  readonly object: object;
  /** For `fetch`. */
  readonly origin?: FetchOrigin;
  /** For `configure` and `deployment`. */
  readonly facts?: GivenFacts;
  readonly limits: ContentLimits;
  readonly files: FileTable;
}

/** The next bytes of the files of the last table; they are the frame's body. */
export interface ContentMessage {
  readonly type: 'content';
}

export interface AbortMessage {
  readonly type: 'abort';
  readonly reason: Thrown;
}

const fileTable = z.object({
  paths: z.array(z.string()).readonly(),
  sizes: z.array(z.int().nonnegative()).readonly(),
  directories: z.array(z.string()).readonly(),
});

const thrown = z.object({
  kind: z.enum(['terminal', 'waiting', 'other']),
  message: z.string(),
  reason: z.string().optional(),
  retry: z.enum(['back-off', 'on-change']).optional(),
  stack: z.string().optional(),
});

/** Whatever a module says that it is: judged where it is started. */
const description = z.object({
  type: z.literal('description'),
  className: z.string().optional(),
  contractVersion: z.number().optional(),
  handlers: z.array(z.string()),
  uses: z.array(z.string()),
});

/**
 * What a worker process tells its manager. Code that we did not write runs there, and may write to
 * the socket as well: it is JSON, in which there is nothing but data, and nothing is believed.
 */
const fromWorker = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('log'),
    level: z.enum(['debug', 'info', 'warn', 'error']),
    fields: record(z.unknown()),
    message: z.string(),
  }),
  /** The files of a result are those that the handler was given. */
  z.object({ type: z.literal('unchanged') }),
  /** The next of the files of a result, whose content follows when all are named. */
  z.object({ type: z.literal('files'), files: fileTable }),
  /** What was fetched; its fields are the source's own affair, and it is one of ours. */
  z.object({ type: z.literal('resolved'), source: z.looseObject({ type: z.string() }) }),
  z.object({ type: z.literal('content') }),
  /** The next objects of a deployment handler's result. */
  z.object({ type: z.literal('objects'), objects: z.array(z.unknown()) }),
  /** What an inputs handler asks for. */
  z.object({
    type: z.literal('inputs'),
    references: z.array(
      z.object({
        kind: z.enum(['ConfigMap', 'Secret']),
        name: z.string(),
        key: z.string(),
        optional: z.boolean().optional(),
      }),
    ),
  }),
  description,
  /** Ends a call, after its whole result. */
  z.object({ type: z.literal('end'), error: thrown.optional() }),
]);

export type FromWorker = z.infer<typeof fromWorker>;
export interface LogMessage extends Extract<FromWorker, { type: 'log' }> {}
export interface Description extends z.infer<typeof description> {}

/** @throws Error where it is none. */
export function parseFromWorker(value: unknown): FromWorker {
  const { data, error } = fromWorker.safeParse(value);
  if (data !== undefined) return data;
  throw new Error(z.prettifyError(error).replaceAll(/\s+/g, ' '));
}
