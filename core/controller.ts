/**
 * The one door for authors of controllers, by controller-runtime's names: a client, informers with
 * their caches, work queues, leader election, status, Events and metrics. Published as
 * `rukpak-ts/controller`, and described in docs/sdk.md. Authors of classes and
 * sources use `core/sdk.ts`, which reaches no cluster.
 */
export type { GroupVersionKind } from '../api/gvk.ts';
export { apiVersionOf, gvkOf } from '../api/gvk.ts';
export type { Condition, KubernetesObject, ObjectMeta } from '../api/meta.ts';
export type { EventSink } from './contracts/event-sink.ts';
export type { Logger } from './contracts/logger.ts';
export type { SecretReader } from './contracts/source.ts';
export { errorMessage, TerminalError, WaitingError } from './errors.ts';
export { createTlsServer, type TlsFiles } from './platform/certificates/index.ts';
export { aborted, type Clock, metaTime, systemClock, withDeadline } from './platform/clock.ts';
export {
  ApiError,
  configMapResource,
  connect,
  createSecretReader,
  type Discovery,
  definitionResource,
  formatKey,
  hasCode,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isNotFound,
  type KubeClient,
  type KubeConnection,
  keyOf,
  listAll,
  liveObject,
  type ObjectKey,
  Reflector,
  type ReflectorOptions,
  type ReflectorSink,
  type Resource,
  secretResource,
  unlessGone,
} from './platform/kube/index.ts';
export {
  CatalogServerMetrics,
  ControllerMetrics,
  createLogger,
  type LogLevel,
} from './platform/observe/index.ts';
export {
  addFinalizer,
  type CacheChange,
  Controller,
  type ControllerOptions,
  conditionMessage,
  type DevelopmentVariables,
  developmentVariables,
  EventRecorder,
  endText,
  type FileAccess,
  findCondition,
  HealthServer,
  IndexedCache,
  LeaderElector,
  leaderRunnable,
  Manager,
  nodePermissions,
  ObjectController,
  type ProcessEnd,
  processorTime,
  type Readiness,
  type ReconcileContext,
  type ReconcileResult,
  type Runnable,
  reflectorRunnable,
  removeFinalizer,
  Semaphore,
  setCondition,
  statusPatch,
  stopSignal,
  withReadiness,
} from './platform/runtime/index.ts';
