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
import { noFiles } from './worker/frames.ts';
import { WorkerPool } from './worker/worker-pool.ts';

export interface SourceWorkerOptions {
  /** The source without its fetch. */
  readonly source: SourceType;
  /** Module whose default export makes a source of this type from the settings. */
  readonly module: URL;
  /** Plain data: it crosses to the processes. */
  readonly settings?: object;
  /** Processes at once: more than one server has fetches, lest a slow one hold up those of others. */
  readonly size: number;
  /** Where what the processes take is counted; each may take as much as is for one process. */
  readonly memory: ByteBudget;
  /** Whether the processes may read our package alone, write nothing and start nothing (default: no). */
  readonly sandboxed?: boolean;
  readonly clock?: Clock;
  readonly logger: Logger;
}

export interface WorkerSource extends Source {
  /** Ends the processes at once; fetches that are running or begin later reject. */
  close(): Promise<void>;
}

/**
 * A source whose fetches run in processes of their own, for servers' data that takes processor time
 * to read. It is given the Secrets that its spec names, as they were when the fetch began.
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
