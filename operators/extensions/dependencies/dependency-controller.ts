import {
  type Clock,
  Controller,
  type ControllerMetrics,
  type Logger,
  type Runnable,
} from '../../../core/controller.ts';
import type { DependencyGate } from './dependency-gate.ts';
import { DependencyInstaller, type DependencyInstallerOptions } from './dependency-installer.ts';

interface ControllerParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics?: ControllerMetrics | undefined;
}

export interface DependencyController {
  readonly gate: DependencyGate;
  readonly controller: Runnable;
  /** Call this when an Operator, ClusterExtension or BundleDeployment has changed. */
  readonly look: () => void;
}

/** One key for all: what is made depends on all Operators at once. */
const key = 'all';

/** Milliseconds: nobody who has granted a permission waits longer for the next attempt. */
const longestRetry = 60_000;

/** Makes Operators for what Operators require. */
export function dependencyController(
  options: Omit<DependencyInstallerOptions, 'onNews'>,
  parts: ControllerParts,
): DependencyController {
  const look = (): void => controller.enqueue(key);
  const installer = new DependencyInstaller({ ...options, onNews: look });
  const controller = new Controller({
    ...parts,
    name: 'operator-dependencies',
    kind: 'Operator',
    workers: 1,
    reconcile: async (_, { signal, wakeAfter }) => {
      try {
        return await installer.reconcile(signal);
      } catch (error) {
        wakeAfter(longestRetry);
        throw error;
      }
    },
  });
  return {
    gate: installer,
    controller: {
      name: 'controller of dependencies',
      run: async (signal, lost) => await controller.run(signal, lost),
    },
    look,
  };
}
