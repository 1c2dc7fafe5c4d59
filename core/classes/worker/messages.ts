import { z } from 'zod';
import { needsExactIntegers, parseJson } from '../../../api/json.ts';
import { record } from '../../../api/record.ts';
import type { ContentLimits } from '../../contracts/bundle-files.ts';
import type { DeploymentContext } from '../../contracts/provisioner.ts';
import type { SecretContent } from '../../contracts/source.ts';
import type { ContentKey } from '../../contracts/store.ts';
import { TerminalError } from '../../errors.ts';
import type { FileTable } from './frames.ts';
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

/**
 * A message of a worker process. Numbers that a double cannot hold make parsing it ten times slower,
 * so that some megabytes of nothing but brackets would hold up the manager for seconds.
 * @throws Error where it is none, or has too many values to be read so.
 */
export function parseMessage(head: Buffer, allowance: OutputAllowance): FromWorker {
  const text = head.toString('utf8');
  if (needsExactIntegers(text)) allowance.values(countValues(parsed(text, JSON.parse)));
  const { data, error } = fromWorker.safeParse(parsed(text, parseJson));
  if (data !== undefined) return data;
  throw new Error(z.prettifyError(error).replaceAll(/\s+/g, ' '));
}

function parsed(text: string, parse: (text: string) => unknown): unknown {
  try {
    return parse(text);
  } catch (error) {
    // Its own message quotes what came, whatever that is.
    throw new Error('it is not JSON', { cause: error });
  }
}

/** More than an object of three mebibytes has that anybody would write. */
const maxValuesOfMessage = 250_000;

function countValues(root: unknown): number {
  const open: unknown[] = [root];
  let count = 0;
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== 'object' || value === null) continue;
    const values: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
    count += values.length;
    if (count > maxValuesOfMessage) {
      throw new Error(
        `it has long numbers among more than ${maxValuesOfMessage} values in one message`,
      );
    }
    for (const inner of values) if (typeof inner === 'object') open.push(inner);
  }
  return count;
}

const maxLines = 10_000;
const maxBytes = 8 * 1024 * 1024;

/** Messages that come late, after their call was given up. */
const maxStray = 1_000;

/** JSON values in messages with long numbers. */
const maxValues = 5_000_000;

/** What one call may write to the log, and what may come without a call: the manager reads it all. */
export class OutputAllowance {
  #lines = 0;
  #bytes = 0;
  #stray = 0;
  #values = 0;

  /** For another call. */
  renew(): void {
    this.#lines = 0;
    this.#bytes = 0;
    this.#stray = 0;
    this.#values = 0;
  }

  /** @throws TerminalError where it is too much. */
  write(bytes: number, callee: string): void {
    this.#lines += 1;
    this.#bytes += bytes;
    if (this.#lines <= maxLines && this.#bytes <= maxBytes) return;
    throw new TerminalError(
      `${callee} wrote more than ${maxLines} lines or ${maxBytes / 1024 / 1024} MiB to the log in one call: have it write less`,
    );
  }

  /** @throws Error where it is too much. */
  values(count: number): void {
    this.#values += count;
    if (this.#values <= maxValues) return;
    throw new Error(`it has long numbers among more than ${maxValues} values in one call`);
  }

  /** @throws Error where it is too much. */
  stray(): void {
    this.#stray += 1;
    if (this.#stray > maxStray)
      throw new Error('it sends too many messages that core did not ask for');
  }
}
