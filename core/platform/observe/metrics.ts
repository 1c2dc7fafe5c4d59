import { ApplyMetrics } from './apply-metrics.ts';
import { CertificateMetrics } from './certificate-metrics.ts';
import { ClockMetrics } from './clock-metrics.ts';
import { ContentMetrics } from './content-metrics.ts';
import { ControllerMetrics } from './controller-metrics.ts';
import { Exposition } from './exposition.ts';
import { LeaderMetrics } from './leader-metrics.ts';
import { MemoryMetrics } from './memory-metrics.ts';
import { ObjectMetrics } from './object-metrics.ts';
import { QueueMetrics } from './queue-metrics.ts';
import { UnpackMetrics } from './unpack-metrics.ts';

/** The metrics of core, by area; controller-runtime's names where it has them. */
export class Metrics extends Exposition {
  readonly controllers = new ControllerMetrics(this.registry);
  readonly queues = new QueueMetrics(this.registry);
  readonly unpacking = new UnpackMetrics(this.registry);
  readonly memory = new MemoryMetrics(this.registry);
  readonly applying = new ApplyMetrics(this.registry);
  readonly content = new ContentMetrics(this.registry);
  readonly objects = new ObjectMetrics(this.registry);
  readonly clock = new ClockMetrics(this.registry);
  readonly leader = new LeaderMetrics(this.registry);
  readonly certificates = new CertificateMetrics(this.registry);
}
