export { stopSignal } from '../stop-signal.ts';
export { Controller } from './controllers/controller.ts';
export type {
  ControllerOptions,
  ReconcileContext,
  ReconcileResult,
} from './controllers/controller-options.ts';
export { ObjectController } from './controllers/object-controller.ts';
export { EventRecorder } from './event-recorder.ts';
export { addFinalizer, removeFinalizer } from './finalizers.ts';
export { type BindAddress, HealthServer, parseBindAddress } from './health-server.ts';
export { type CacheChange, IndexedCache } from './indexed-cache.ts';
export { LeaderElector } from './leader/leader-elector.ts';
export { leaderRunnable } from './leader/leader-runnable.ts';
export { type Lease, leaseResource } from './leader/lease-lock.ts';
export { Manager, type Runnable, reflectorRunnable } from './manager.ts';
export {
  type DevelopmentVariables,
  developmentVariables,
  type FileAccess,
  moduleFolders,
  nodePermissions,
} from './node-permissions.ts';
export { beginOf, bootID, endText, type ProcessEnd, processorTime } from './processes.ts';
export { ByteBudget } from './queue/byte-budget.ts';
export { type Claim, precedence } from './queue/claims.ts';
export type { MemoryShare } from './queue/memory-share.ts';
export { FairSemaphore, Semaphore } from './queue/semaphore.ts';
export { Countdown, type InTurn, type Turn, takePlace, withTimeLimit } from './queue/time-limit.ts';
export {
  conditionMessage,
  findCondition,
  type Readiness,
  setCondition,
  statusPatch,
  timestamp,
  withReadiness,
} from './status.ts';
