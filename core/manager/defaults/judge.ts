import { extname } from 'node:path';
import { judgeInWorkers, type WorkerJudge } from '../../classes/index.ts';
import type { Logger } from '../../contracts/logger.ts';
import type { Clock } from '../../platform/clock.ts';
import type { ByteBudget } from '../../platform/runtime/index.ts';

// The same extension as this file: TypeScript from a checkout, JavaScript from dist.
const extension = extname(import.meta.url);
const module = new URL(`../../apply/health/rules/judge-objects${extension}`, import.meta.url);

/** Evaluates the rules of spec.health in processes of its own, until it is closed. */
export function openJudge(options: {
  readonly memory: ByteBudget;
  readonly clock: Clock;
  readonly logger: Logger;
}): WorkerJudge {
  return judgeInWorkers({ module, ...options });
}
