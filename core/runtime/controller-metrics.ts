export type ReconcileOutcome = 'success' | 'requeue_after' | 'error';

/** What controllers tell of themselves; named as controller-runtime names its metrics. */
export interface ControllerMetrics {
  reconcileTotal(controller: string, result: ReconcileOutcome): void;
  reconcileTime(controller: string, seconds: number): void;
  activeWorkers(controller: string, count: number): void;
  queueDepth(controller: string, depth: number): void;
  /** How long a key waited before a worker took it. */
  queueDuration(controller: string, seconds: number): void;
  retriesTotal(controller: string): void;
}
