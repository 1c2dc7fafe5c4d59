import { defaultLimits } from '../../content/index.ts';
import type { Logger } from '../../contracts/logger.ts';
import type { ObjectJudge } from '../../contracts/object-judge.ts';
import type { Clock } from '../../platform/clock.ts';
import type { ByteBudget } from '../../platform/runtime/index.ts';
import { filesOf, verdictsOf } from './judge-files.ts';
import { WorkerPool } from './worker-pool.ts';

export interface JudgeWorkerOptions {
  /** Module whose default export judges objects by rules. */
  readonly module: URL;
  /** Where what the processes take is counted. */
  readonly memory: ByteBudget;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface WorkerJudge extends ObjectJudge {
  /** Ends the processes at once; what runs in them or is asked later rejects. */
  close(): Promise<void>;
}

/** More than one: rules that do not end leave a process to those of others. */
const processes = 2;
const memoryMegabytes = 128;
/** Milliseconds for the objects of one request, the start of a process included. */
const processorLimit = 5_000;
/** Milliseconds by the clock; for systems that do not tell what a process has used. */
const runningLimit = 120_000;
/** Of all verdicts of a request. */
const maxBytes = 16 * 1024 * 1024;
const advice = 'make the expressions of spec.health simpler';

/**
 * Judges objects in confined processes, which are started when first needed and ended when nobody
 * has rules to evaluate. One request at a time has a process: what ends it fails that request alone.
 */
export function judgeInWorkers({ module, memory, clock, logger }: JudgeWorkerOptions): WorkerJudge {
  const pool = new WorkerPool({
    size: processes,
    memoryMegabytes,
    memory,
    processorLimit,
    runningLimit,
    confinement: { readable: [] },
    advice,
    clock,
    logger,
  });
  return {
    async judge({ owner, rules, objects, signal }) {
      const answer = await pool.run({
        callee: `spec.health of BundleDeployment ${owner}`,
        module,
        handler: 'judge',
        files: filesOf(objects),
        object: rules,
        context: { signal, logger, limits: { ...defaultLimits, maxBytes } },
      });
      const verdicts = verdictsOf(answer.files());
      if (verdicts.length === objects.length) return verdicts;
      throw new Error(`the worker process judged ${verdicts.length} of ${objects.length} objects`);
    },
    close: () => pool.close(),
  };
}
