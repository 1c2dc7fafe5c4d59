export { ByteBudget } from './byte-budget.ts';
export {
  Controller,
  type ControllerOptions,
  type ReconcileContext,
  type ReconcileResult,
} from './controller.ts';
export { EventRecorder } from './event-recorder.ts';
export { type Claim, precedence } from './fair-queue.ts';
export { addFinalizer, removeFinalizer } from './finalizers.ts';
export { type BindAddress, HealthServer, parseBindAddress } from './health-server.ts';
export { type CacheChange, IndexedCache } from './indexed-cache.ts';
export { LeaderElector } from './leader-elector.ts';
export { leaderRunnable } from './leader-runnable.ts';
export { type Lease, leaseResource } from './lease-lock.ts';
export { Manager, type Runnable, reflectorRunnable, stopSignal } from './manager.ts';
export type { MemoryShare } from './memory-share.ts';
export { ObjectController } from './object-controller.ts';
export { FairSemaphore, Semaphore } from './semaphore.ts';
export {
  conditionMessage,
  findCondition,
  type Readiness,
  setCondition,
  statusPatch,
  timestamp,
  withReadiness,
} from './status.ts';
export { type InTurn, type Turn, withTimeLimit } from './time-limit.ts';
