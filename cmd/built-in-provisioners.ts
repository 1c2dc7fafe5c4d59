import type { Logger } from '../core/contracts/logger.ts';
import { runInWorkers, type WorkerProvisioners } from '../core/runtime/worker/run-in-workers.ts';
import { isSmallContent } from '../core/runtime/worker/small-content.ts';
import { builtInProvisionerModules, chartProvisionerModules } from '../provisioners/index.ts';

/**
 * The classes of the stock manager. Charts have processes of their own, which end when there has
 * been none for a while: those of the other classes need not carry Helm's engine.
 */
export async function runBuiltInProvisioners(logger: Logger): Promise<WorkerProvisioners> {
  const pools = await Promise.all([
    runInWorkers({ modules: builtInProvisionerModules, inProcess: isSmallContent, logger }),
    runInWorkers({ modules: chartProvisionerModules, logger }),
  ]);
  return {
    provisioners: pools.flatMap(({ provisioners }) => provisioners),
    close: async () => {
      await Promise.all(pools.map((pool) => pool.close()));
    },
  };
}
