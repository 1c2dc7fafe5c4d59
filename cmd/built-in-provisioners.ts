import {
  type ClassHost,
  isSmallContent,
  joinedHosts,
  runInWorkers,
} from '../core/classes/index.ts';
import type { Logger } from '../core/contracts/logger.ts';
import type { ByteBudget } from '../core/platform/runtime/index.ts';
import { builtInProvisionerModules, chartProvisionerModules } from '../provisioners/index.ts';

export interface BuiltInProvisioners extends ClassHost {
  /** Classes that run what their content says: a template may go on for as long as it may. */
  readonly slow: readonly string[];
}

export interface BuiltInOptions {
  readonly memory: ByteBudget;
  /** Whether small content of core's classes is read in this very process. */
  readonly here: boolean;
  readonly logger: Logger;
}

/**
 * Milliseconds: a chart takes one or two seconds at most, and while two take forever all others wait.
 */
const chartLimit = 30_000;

/** Of Helm's engine, which bounds its own memory, compiled, and of the process around it. */
const engineMegabytes = 768;

/**
 * The classes of the stock manager. Charts have processes of their own, which end when there has
 * been none for a while: those of the other classes need not carry Helm's engine.
 */
export async function runBuiltInProvisioners({
  memory,
  here,
  logger,
}: BuiltInOptions): Promise<BuiltInProvisioners> {
  const shared = { sandboxed: true, memory, logger };
  const inProcess = here ? { inProcess: isSmallContent } : {};
  const [quick, charts] = await Promise.all([
    runInWorkers({ ...shared, modules: builtInProvisionerModules, ...inProcess }),
    runInWorkers({
      ...shared,
      modules: chartProvisionerModules,
      runningLimit: chartLimit,
      besidesMegabytes: engineMegabytes,
    }),
  ]);
  return {
    ...joinedHosts([quick, charts]),
    slow: charts.provisioners.map(({ className }) => className),
  };
}
