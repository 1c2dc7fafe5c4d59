import type { QueueSnapshot } from '../observe/index.ts';
export type ReconcileOutcome = 'success' | 'requeue_after' | 'error';

/** What controllers tell of themselves; named as controller-runtime names its metrics. */
export interface ControllerMetrics {
  readonly controllers: {
    reconcileTotal(controller: string, result: ReconcileOutcome): void;
    /** Seconds. */
    reconcileTime(controller: string, seconds: number): void;
    activeWorkers(controller: string, count: number): void;
    maxWorkers(controller: string, count: number): void;
  };
  readonly queues: {
    /** The probe tells how things stand whenever somebody asks. */
    watch(controller: string, probe: () => QueueSnapshot): void;
    added(controller: string): void;
    retried(controller: string): void;
    /** How many seconds a key waited before a worker took it. */
    waited(controller: string, seconds: number): void;
    /** How many seconds a worker had it. */
    worked(controller: string, seconds: number): void;
  };
}
