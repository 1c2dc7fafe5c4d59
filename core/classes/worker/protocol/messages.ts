import { z } from 'zod';
import { needsExactIntegers, parseJson } from '../../../../api/json.ts';
import { record } from '../../../../api/record.ts';
import type { ContentLimits } from '../../../contracts/bundle-files.ts';
import type { DeploymentContext } from '../../../contracts/provisioner.ts';
import type { SecretContent } from '../../../contracts/source.ts';
import type { ContentKey } from '../../../contracts/store.ts';
import { TerminalError } from '../../../errors.ts';
import type { FileTable } from './frames.ts';
import type { Thrown } from './thrown.ts';

/**
 * Messages from the manager to a worker process, for one call at a time. Everything large is sent
 * in pieces, so that no single message blocks either side.
 */
export type ToWorker = CallMessage | ContentMessage | AbortMessage;

/**
 * The API server accepts objects of three mebibytes; smaller objects may come in the same frame.
 */
export const maxFrameBytes = 5 * 1024 * 1024;

/**
 * A provisioner's handlers, the function of a source or judge, and the request for a module's
 * description.
 */
export type HandlerName =
  | 'bundle'
  | 'configure'
  | 'deployment'
  | 'inputs'
  | 'fetch'
  | 'judge'
  | 'describe';

/** Arguments of `configure` and `deployment` besides content and object. */
export type GivenFacts = Pick<DeploymentContext, 'inputs' | 'cluster' | 'seed' | 'installed'>;

/** The part of its context that a source in a worker process receives. */
export interface FetchOrigin {
  readonly bundle: ContentKey;
  /** The existing Secrets that the source names. */
  readonly secrets: ReadonlyMap<string, SecretContent>;
  /** Settings of the source itself. */
  readonly settings: object;
}

/** Starts a call, which runs after the content of its files has arrived. */
export interface CallMessage {
  readonly type: 'call';
  /** URL of the provisioner's or source's module. */
  readonly module: string;
  /** The called class or source, for messages: `class "acme"`. */
  readonly callee: string;
  readonly handler: HandlerName;
  /** The Bundle or BundleDeployment; a source for `fetch`, rules for `judge`. */
  readonly object: object;
  /** For `fetch`. */
  readonly origin?: FetchOrigin;
  /** For `configure` and `deployment`. */
  readonly facts?: GivenFacts;
  readonly limits: ContentLimits;
  readonly files: FileTable;
}

/** The next bytes of the files in the last table, as the frame's body. */
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

/** A module's description of itself; the manager checks it. */
const description = z.object({
  type: z.literal('description'),
  className: z.string().optional(),
  contractVersion: z.number().optional(),
  handlers: z.array(z.string()),
  others: z.array(z.string()).optional(),
  uses: z.array(z.string()),
});

/**
 * Messages from a worker process to its manager. Foreign code runs there, and can write to the
 * socket too: so they are JSON, which can contain only data, and the manager validates everything.
 */
const fromWorker = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('log'),
    level: z.enum(['debug', 'info', 'warn', 'error']),
    fields: record(z.unknown()),
    message: z.string(),
  }),
  /** The result's files are the handler's input. */
  z.object({ type: z.literal('unchanged') }),
  /** The next files of a result; their content follows when all are listed. */
  z.object({ type: z.literal('files'), files: fileTable }),
  /**
   * The resolved source of a fetch; only core's own sources run here, so its fields need no check.
   */
  z.object({ type: z.literal('resolved'), source: z.looseObject({ type: z.string() }) }),
  z.object({ type: z.literal('content') }),
  /** The next objects of a deployment handler's result. */
  z.object({ type: z.literal('objects'), objects: z.array(z.unknown()) }),
  /** The references of an inputs handler. */
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
 * Parses a message of a worker process. Numbers that a double cannot hold make parsing ten times
 * slower, so that some megabytes of brackets would block the manager for seconds.
 * @throws Error for an invalid message, and for too many values of that kind.
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
    // JSON.parse's message quotes the untrusted text.
    throw new Error('it is not JSON', { cause: error });
  }
}

/** More values than any real object of three mebibytes has. */
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

/** Messages that arrive after their call was aborted. */
const maxStray = 1_000;

/** Maximum JSON values in messages with long numbers. */
const maxValues = 5_000_000;

/**
 * Limits what one call may write to the log, and what may come without a call, because the manager
 * reads all of it.
 */
export class OutputAllowance {
  #lines = 0;
  #bytes = 0;
  #stray = 0;
  #values = 0;

  /** Starts the limits of another call. */
  renew(): void {
    this.#lines = 0;
    this.#bytes = 0;
    this.#stray = 0;
    this.#values = 0;
  }

  /** @throws TerminalError above the limit. */
  write(bytes: number, callee: string): void {
    this.#lines += 1;
    this.#bytes += bytes;
    if (this.#lines <= maxLines && this.#bytes <= maxBytes) return;
    throw new TerminalError(
      `${callee} wrote more than ${maxLines} lines or ${maxBytes / 1024 / 1024} MiB to the log in one call: have it write less`,
    );
  }

  /** @throws Error above the limit. */
  values(count: number): void {
    this.#values += count;
    if (this.#values <= maxValues) return;
    throw new Error(`it has long numbers among more than ${maxValues} values in one call`);
  }

  /** @throws Error above the limit. */
  stray(): void {
    this.#stray += 1;
    if (this.#stray > maxStray)
      throw new Error('it sends too many messages that core did not ask for');
  }
}
