import type { Logger } from '../contracts/logger.ts';
import type {
  SecretContent,
  Source,
  SourceContext,
  SourceResult,
  SourceType,
} from '../contracts/source.ts';
import { type Clock, systemClock } from '../platform/clock.ts';
import type { ByteBudget } from '../platform/runtime/index.ts';
import { noFiles } from './worker/protocol/frames.ts';
import { WorkerPool } from './worker/worker-pool.ts';

export interface SourceWorkerOptions {
  /** The source except its `fetch`. */
  readonly source: SourceType;
  /** Module whose default export creates a source of this type from the settings. */
  readonly module: URL;
  /** Plain data, because it is sent to the processes. */
  readonly settings?: object;
  /**
   * Number of processes: several servers have fetches, and a slow one must not delay those of
   * others.
   */
  readonly size: number;
  /** Counts the memory of the processes; each may take the share of one process. */
  readonly memory: ByteBudget;
  /**
   * Whether the processes may only read core's own package, and neither write nor start anything
   * (default: no).
   */
  readonly sandboxed?: boolean;
  readonly clock?: Clock;
  readonly logger: Logger;
}

export interface WorkerSource extends Source {
  /** Ends the processes at once; running and later fetches reject. */
  close(): Promise<void>;
}

/**
 * A source whose fetches run in separate processes, for servers' data that takes processor time to
 * read. It receives the Secrets that its spec names, as they are when the fetch starts.
 */
export function fetchInWorkers(options: SourceWorkerOptions): WorkerSource {
  const { module, source: sourceType, settings = {}, size, memory, sandboxed } = options;
  const { clock = systemClock, logger } = options;
  const { megabytesForProcess: memoryMegabytes } = memory;
  const pool = new WorkerPool({ size, memoryMegabytes, memory, sandboxed, clock, logger });
  const call = {
    module,
    callee: `source type "${sourceType.type}"`,
    handler: 'fetch',
    files: noFiles,
  } as const;
  return {
    ...sourceType,
    async fetch(source, context): Promise<SourceResult> {
      const { bundle } = context;
      const origin = {
        bundle,
        settings,
        secrets: await namedSecret(sourceType.secret?.(source), context),
      };
      const answer = await pool.run({ ...call, object: source, origin, context });
      const { resolvedSource } = answer;
      const files = answer.files();
      if (files === undefined || resolvedSource === undefined) {
        throw new Error(`${call.callee} returned no content`);
      }
      return { files, resolvedSource };
    },
    close: () => pool.close(),
  };
}

async function namedSecret(
  name: string | undefined,
  { secrets, signal }: SourceContext,
): Promise<ReadonlyMap<string, SecretContent>> {
  const secret = name ? await secrets.read(name, signal) : undefined;
  return new Map(name && secret ? [[name, secret]] : []);
}
