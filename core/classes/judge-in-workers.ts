import { z } from 'zod';
import { defaultLimits } from '../content/index.ts';
import type { BundleFiles } from '../contracts/bundle-files.ts';
import type { Logger } from '../contracts/logger.ts';
import type { JudgedObject, ObjectJudge, Verdict } from '../contracts/object-judge.ts';
import type { Clock } from '../platform/clock.ts';
import type { ByteBudget } from '../platform/runtime/index.ts';
import { WorkerPool } from './worker/worker-pool.ts';

export interface JudgeWorkerOptions {
  /** Module whose default export judges objects by rules. */
  readonly module: URL;
  /** Counts the memory of the processes. */
  readonly memory: ByteBudget;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface WorkerJudge extends ObjectJudge {
  /** Ends the processes at once; running and later requests reject. */
  close(): Promise<void>;
}

/**
 * For one creator, who shares them among his deployments; the pool has one more for other creators.
 */
const processes = 2;
const memoryMegabytes = 128;
/** Milliseconds of processor time for one request, including the start of a process. */
const processorLimit = 5_000;
/** Milliseconds of real time, for systems that do not report processor time. */
const runningLimit = 120_000;
/** Maximum bytes of all verdicts of a request. */
const maxBytes = 16 * 1024 * 1024;
const advice = 'make the expressions of spec.health simpler';

/**
 * Judges objects in confined processes, which start at the first use and end when there are no
 * rules to evaluate. A process has one request at a time: when a request ends the process, only
 * that request fails.
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
    async judge({ owner, creator, rules, objects, signal }) {
      const answer = await pool.run({
        callee: `spec.health of BundleDeployment ${owner}`,
        module,
        handler: 'judge',
        files: filesOf(objects),
        object: rules,
        context: { signal, logger, limits: { ...defaultLimits, maxBytes }, turn: { creator } },
      });
      const verdicts = verdictsOf(answer.files());
      if (verdicts.length === objects.length) return verdicts;
      throw new Error(`the worker process judged ${verdicts.length} of ${objects.length} objects`);
    },
    close: () => pool.close(),
  };
}

/**
 * The objects as files, because content is sent in pieces, whatever its size. Each name contains
 * the index of the object's rule.
 */
function filesOf(objects: readonly JudgedObject[]): BundleFiles {
  const files = objects.map(({ rule, json }, at) => [`${at}.${rule}`, Buffer.from(json)] as const);
  return { files: new Map(files), directories: new Set() };
}

const verdict = z.object({
  status: z.enum(['Current', 'InProgress', 'Failed']),
  message: z.string().max(8_192),
});

/** @throws Error when the worker process sent anything else. */
function verdictsOf(files: BundleFiles | undefined): readonly Verdict[] {
  return Array.from(files?.files.values() ?? [], (content) => {
    const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
    return verdict.parse(JSON.parse(text.toString('utf8')));
  });
}
