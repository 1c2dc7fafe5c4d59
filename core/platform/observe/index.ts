export type { ContentMetrics, UnpackMetrics } from './content-metrics.ts';
export type { LeaderMetrics, QueueSnapshot } from './controller-metrics.ts';
export type { AppliedSet, ApplyMetrics, ObjectCount, ObjectCounts } from './deployment-metrics.ts';
export { createLogger, type LogLevel } from './logger.ts';
export { type ClockMetrics, ControllerMetrics, Exposition, Metrics } from './metrics.ts';
export { CatalogServerMetrics, CertificateMetrics, WebhookMetrics } from './serving-metrics.ts';
