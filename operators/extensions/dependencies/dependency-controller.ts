import {
  type Clock,
  Controller,
  type ControllerMetrics,
  type Logger,
  type ReconcileResult,
  type Runnable,
} from '../../../core/controller.ts';
import type { DependencyGate } from './dependency-gate.ts';
import { DependencyInstaller, type DependencyInstallerOptions } from './dependency-installer.ts';
import { OperatorWriter, type OperatorWriterOptions } from './operator-writer.ts';

interface ControllerParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics?: ControllerMetrics | undefined;
}

interface LookingController {
  readonly controller: Runnable;
  /** Call this when an Operator, ClusterExtension or BundleDeployment has changed. */
  readonly look: () => void;
}

export interface DependencyController extends LookingController {
  /** Undefined if nothing is made. */
  readonly gate: DependencyGate | undefined;
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
  const looking = lookingController(parts, async (signal) => await installer.reconcile(signal));
  const installer = new DependencyInstaller({ ...options, onNews: looking.look });
  return { gate: installer, ...looking };
}

/**
 * Makes nothing: releases the Operators of before that users take over. Otherwise the garbage
 * collector would delete them with those that once required them.
 */
export function releaseController(
  options: OperatorWriterOptions,
  parts: ControllerParts,
): DependencyController {
  const writer = new OperatorWriter(options);
  const release = async (signal: AbortSignal): Promise<ReconcileResult> => {
    const errors = await writer.release(signal);
    if (errors.length > 0) throw errors[0];
    return {};
  };
  return { gate: undefined, ...lookingController(parts, release) };
}

function lookingController(
  parts: ControllerParts,
  reconcile: (signal: AbortSignal) => Promise<ReconcileResult>,
): LookingController {
  const controller = new Controller({
    ...parts,
    name: 'operator-dependencies',
    kind: 'Operator',
    workers: 1,
    reconcile: async (_, { signal, wakeAfter }) => {
      try {
        return await reconcile(signal);
      } catch (error) {
        wakeAfter(longestRetry);
        throw error;
      }
    },
  });
  return {
    controller: {
      name: 'controller of dependencies',
      run: async (signal, lost) => await controller.run(signal, lost),
    },
    look: () => controller.enqueue(key),
  };
}
