import {
  type Bundle,
  type BundleDeployment,
  bundleDeploymentCondition,
  bundleDeploymentReason,
  bundlePhases,
  kstatusCondition,
  readyReason,
} from '../../api/v1alpha1/index.ts';
import type { Logger } from '../contracts/logger.ts';
import type { Provisioner } from '../contracts/provisioner.ts';
import { errorMessage } from '../errors.ts';
import type { Clock } from '../platform/clock.ts';
import { type ClockOffset, clockProblem } from '../platform/kube/index.ts';
import type { ClockMetrics, ObjectCount, ObjectCounts } from '../platform/observe/index.ts';
import { findCondition, type Runnable } from '../platform/runtime/index.ts';
import { classesWith } from './classes.ts';

interface CountedKinds {
  readonly bundles: { list(): readonly Bundle[] };
  readonly deployments: { list(): readonly BundleDeployment[] };
}

/** Maximum number of classes in labels, because users may name any number; the rest is `other`. */
const maxClasses = 20;

const phases: ReadonlySet<string> = new Set([...bundlePhases, 'None']);
const types: ReadonlySet<string> = new Set(Object.values(bundleDeploymentCondition));
const reasons: ReadonlySet<string> = new Set(Object.values(bundleDeploymentReason));

/** Counts the cached objects by state; label values are a closed set, or limited. */
export function createObjectCounts(
  { bundles, deployments }: CountedKinds,
  provisioners: readonly Provisioner[],
): ObjectCounts {
  const bundleClasses = classesWith(provisioners, 'bundle');
  const deploymentClasses = classesWith(provisioners, 'deployment');
  return {
    bundles() {
      const empty = Array.from(phases, (phase) => ({ phase }));
      const found = bundles.list().map(({ status: { phase = 'None' } = {} }) => {
        return { phase: phases.has(phase) ? phase : 'Other' };
      });
      return count(found, empty);
    },
    conditions() {
      const conditions = deployments.list().flatMap(({ status }) => status?.conditions ?? []);
      const labels = conditions
        .filter(({ type }) => types.has(type))
        .map(({ type, status, reason }) => ({
          type,
          status,
          reason: reasons.has(reason) ? reason : 'Other',
        }));
      return count(labels);
    },
    unserved() {
      return [
        ...count(unserved('Bundle', bundles.list(), bundleClasses)),
        ...count(unserved('BundleDeployment', deployments.list(), deploymentClasses)),
      ];
    },
  };
}

/**
 * Objects of classes that no process serves: another process would have written more into their
 * status, or replaced what this one has written.
 */
function unserved(
  kind: string,
  objects: readonly (Bundle | BundleDeployment)[],
  classes: ReadonlyMap<string, unknown>,
): readonly Record<string, string>[] {
  const seen = new Set<string>();
  return objects
    .filter(({ spec, status }) => !classes.has(spec.provisionerClassName) && isSilent(status))
    .map(({ spec: { provisionerClassName: name } }) => {
      if (seen.size < maxClasses) seen.add(name);
      return { kind, class: seen.has(name) ? name : 'other' };
    });
}

function isSilent(status: Bundle['status'] | BundleDeployment['status']): boolean {
  const { conditions = [] } = status ?? {};
  return (
    conditions.length === 0 ||
    findCondition(conditions, kstatusCondition.ready)?.reason === readyReason.classNotServed
  );
}

function count(
  found: readonly Readonly<Record<string, string>>[],
  atLeast: readonly Readonly<Record<string, string>>[] = [],
): readonly ObjectCount[] {
  const counts = new Map<string, { labels: Readonly<Record<string, string>>; count: number }>();
  for (const labels of atLeast) counts.set(JSON.stringify(labels), { labels, count: 0 });
  for (const labels of found) {
    const key = JSON.stringify(labels);
    const entry = counts.get(key) ?? { labels, count: 0 };
    counts.set(key, { ...entry, count: entry.count + 1 });
  }
  return [...counts.values()];
}

interface ClockCheckParts {
  readonly clockOffset: (signal: AbortSignal) => Promise<ClockOffset>;
  readonly metrics: Pick<ClockMetrics, 'measured'>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'debug'>;
}

const interval = 60 * 60_000;
const retryInterval = 60_000;

/** Logs at the start and every hour when this computer's clock is off; nothing waits for it. */
export function createClockCheck({
  clockOffset,
  metrics,
  clock,
  logger,
}: ClockCheckParts): Runnable {
  let wasOff = false;

  function tell(offset: ClockOffset): void {
    metrics.measured((offset.least + offset.most) / 2);
    const problem = clockProblem(offset);
    if (problem !== undefined) {
      logger.warn(
        {},
        `this computer's clock is ${problem} the API server's: certificates and leases depend on it; synchronize the clocks of the cluster's computers`,
      );
    } else if (wasOff) logger.info({}, "this computer's clock is right again");
    wasOff = problem !== undefined;
  }

  async function check(signal: AbortSignal): Promise<number> {
    try {
      tell(await clockOffset(signal));
      return interval;
    } catch (error) {
      logger.debug({ error: errorMessage(error) }, "cannot compare clocks with the API server's");
      return retryInterval;
    }
  }

  return {
    name: 'clock check',
    async run(signal) {
      while (!signal.aborted) await clock.sleep(await check(signal), signal).catch(() => undefined);
    },
  };
}
