import { churn, gone, partition, stalledWatches, stolenLease } from './api-server.ts';
import type { Fault } from './fault.ts';
import { clockJump, fullDisk } from './machine.ts';
import {
  freezeApiserver,
  freezeCore,
  freezeEtcd,
  killApiserver,
  killCore,
  killEtcd,
} from './processes.ts';
import { movedTags, tooManyRequests } from './registry.ts';
import { expiredCertificate } from './webhooks.ts';

export const faults: readonly Fault[] = [
  killCore,
  killApiserver,
  killEtcd,
  freezeCore,
  freezeApiserver,
  freezeEtcd,
  partition,
  gone,
  stalledWatches,
  stolenLease,
  churn,
  tooManyRequests,
  movedTags,
  fullDisk,
  clockJump,
  expiredCertificate,
];
