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

/** Content goes in pieces, whatever its size. The name of each has the index of its rule. */
function filesOf(objects: readonly JudgedObject[]): BundleFiles {
  const files = objects.map(({ rule, json }, at) => [`${at}.${rule}`, Buffer.from(json)] as const);
  return { files: new Map(files), directories: new Set() };
}

const verdict = z.object({
  status: z.enum(['Current', 'InProgress', 'Failed']),
  message: z.string().max(8_192),
});

/** @throws Error where the worker process sent something else. */
function verdictsOf(files: BundleFiles | undefined): readonly Verdict[] {
  return Array.from(files?.files.values() ?? [], (content) => {
    const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
    return verdict.parse(JSON.parse(text.toString('utf8')));
  });
}
