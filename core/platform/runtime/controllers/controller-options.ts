import type { Logger } from '../../../contracts/logger.ts';
import type { Clock } from '../../clock.ts';
import type { QueueSnapshot } from '../../observe/index.ts';
import type { Claim } from '../queue/claims.ts';
import type { FairSemaphore } from '../queue/semaphore.ts';

export interface ReconcileContext {
  /**
   * Aborted when another process may lead, or when a stop has waited long enough: until then,
   * finish.
   */
  readonly signal: AbortSignal;
  /** Aborted when a stop begins: tasks that have not started reject with its reason. */
  readonly stopping: AbortSignal;
  readonly logger: Logger;
  /** Reconciles again after `ms`, or earlier if this reconcile's result requests it. */
  readonly wakeAfter: (ms: number) => void;
}

export interface ReconcileResult {
  /** Milliseconds. */
  readonly requeueAfter?: number;
}

export interface ControllerOptions {
  readonly name: string;
  /** Kind of the objects behind the keys, which are cluster-scoped. */
  readonly kind: string;
  /** Number of concurrent keys; Infinity for no limit (default: 8). */
  readonly workers?: number;
  /** Separate workers of a key, if it has some: it waits only for them. */
  readonly ownWorkers?: ((key: string) => FairSemaphore | undefined) | undefined;
  /** Creator and precedence of a key (default: in the order of arrival). */
  readonly claimOf?: (key: string) => Claim;
  /** Creator whose failures share a limit of retries (default: that of the claim). */
  readonly creatorOf?: (key: string) => string;
  /** A rejection requests a retry with back-off; a TerminalError and some waits do not. */
  readonly reconcile: (key: string, context: ReconcileContext) => Promise<ReconcileResult | void>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics?: ReportedMetrics | undefined;
  /**
   * Milliseconds that a stop waits for running reconciles before it aborts them (default: 20 s).
   */
  readonly stopGrace?: number;
}

export type ReconcileOutcome = 'success' | 'requeue_after' | 'error';

/** Metrics of controllers, with controller-runtime's names. */
export interface ReportedMetrics {
  readonly controllers: {
    reconcileTotal(controller: string, result: ReconcileOutcome): void;
    /** Seconds. */
    reconcileTime(controller: string, seconds: number): void;
    activeWorkers(controller: string, count: number): void;
    maxWorkers(controller: string, count: number): void;
  };
  readonly queues: {
    /** Calls the probe at each scrape. */
    watch(controller: string, probe: () => QueueSnapshot): void;
    added(controller: string): void;
    retried(controller: string): void;
    /** Seconds that a key waited for a worker. */
    waited(controller: string, seconds: number): void;
    /** Seconds that a worker needed. */
    worked(controller: string, seconds: number): void;
  };
}
