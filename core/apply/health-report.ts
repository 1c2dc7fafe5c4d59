import { integerAt } from '../../api/json-fields.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import type { HealthProblem } from '../contracts/applier.ts';
import type { Clock } from '../platform/clock.ts';
import type { KubeClient } from '../platform/kube/index.ts';
import type { DriftDetector } from './drift/drift.ts';
import { isPodsController, type PodReasonsOf, workloadReason } from './health/pod-reason.ts';
import type { Inventory } from './inventory/inventory.ts';
import { clientOf } from './privilege/permissions.ts';
import type { AppliedRecord } from './state/applied-record.ts';
import type { OwnerState } from './state/owner-state.ts';
import type { OwnerStates } from './state/owner-states.ts';

/**
 * Maximum number of workloads to ask about per report: each takes two requests, and one is usually
 * the cause of the others.
 */
const askedWorkloads = 2;
/**
 * Milliseconds for which an answer is reused, so that a burst of installs does not become a burst
 * of requests.
 */
const patience = 60_000;

interface HealthReportOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly owners: OwnerStates;
  readonly inventory: Pick<Inventory, 'get'>;
  readonly drift: Pick<DriftDetector, 'health'>;
}

interface Problem {
  readonly problem: HealthProblem;
  /** The owner's rules have not judged the object yet, and its message says only that. */
  readonly isUnjudged: boolean;
}

/** Reports the unhealthy objects of a deployment from what the watches know. */
export class HealthReport {
  readonly #options: HealthReportOptions;

  constructor(options: HealthReportOptions) {
    this.#options = options;
  }

  problems(owner: BundleDeployment): readonly HealthProblem[] {
    const { records = [] } = this.#options.owners.find(owner.metadata.name ?? '') ?? {};
    const problems = records.flatMap((record) => {
      const message = this.#options.drift.health(record);
      return message === undefined ? [] : [this.#problemOf(record, message)];
    });
    return oneForUnjudged(problems);
  }

  /** Adds why pods of unhealthy workloads are not ready; asks the API server for that. */
  async explained(owner: BundleDeployment, signal: AbortSignal): Promise<readonly HealthProblem[]> {
    const reasons = await this.#podReasons(owner, signal);
    return this.problems(owner).map((problem) => {
      const reason = reasons.get(problem.message);
      return reason === undefined ? problem : { message: `${problem.message} (${reason})` };
    });
  }

  #problemOf({ resource, key, found, missingVerdict }: AppliedRecord, message: string): Problem {
    const isUnjudged = missingVerdict !== undefined;
    if (found === true && missingVerdict === 'pending') {
      return { problem: { message, unknown: true }, isUnjudged };
    }
    const awaited = awaitedController(this.#options.inventory.get(resource, key)?.object);
    if (awaited === undefined) return { problem: { message }, isUnjudged };
    return { problem: { message: `${message} (${awaited})` }, isUnjudged: false };
  }

  /** Keyed by the workload's line in the message. Leaves out what the API server does not show. */
  async #podReasons(owner: BundleDeployment, signal: AbortSignal): Promise<PodReasonsOf['byLine']> {
    const { clock, owners } = this.#options;
    const state = owners.of(owner.metadata.name ?? '');
    const now = clock.monotonic();
    const known = state.podReasons;
    if (known !== undefined && now - known.at < patience) return known.byLine;
    const byLine = await this.#ask(owner, state, signal);
    state.podReasons = { at: now, byLine };
    return byLine;
  }

  /** Asks with the permissions of the owner. */
  async #ask(
    owner: BundleDeployment,
    { records }: OwnerState,
    signal: AbortSignal,
  ): Promise<PodReasonsOf['byLine']> {
    const { client, drift } = this.#options;
    const unhealthy = records.filter(isPodsController).flatMap((record) => {
      const line = drift.health(record);
      return line === undefined ? [] : [{ record, line }];
    });
    const byLine = new Map<string, string>();
    for (const { record, line } of unhealthy.slice(0, askedWorkloads)) {
      const reason = await workloadReason(clientOf(owner, client), record, signal).catch(
        () => undefined,
      );
      signal.throwIfAborted();
      if (reason !== undefined) byLine.set(line, reason);
    }
    return byLine;
  }
}

/** Keeps only one problem for all objects that the owner's rules have not judged yet. */
function oneForUnjudged(problems: readonly Problem[]): readonly HealthProblem[] {
  const unjudged = problems.flatMap(({ problem, isUnjudged }) => (isUnjudged ? [problem] : []));
  const [first, ...more] = unjudged;
  if (first === undefined || more.length === 0) return problems.map(({ problem }) => problem);
  const message = `${first.message} (and ${more.length} more objects)`;
  const others = problems.flatMap(({ problem, isUnjudged }) => (isUnjudged ? [] : [problem]));
  return [
    ...others,
    unjudged.every(({ unknown }) => unknown) ? { message, unknown: true } : { message },
  ];
}

/** Kinds whose status kube-controller-manager writes, with the observed generation. */
const controlled: ReadonlySet<string> = new Set([
  'DaemonSet',
  'Deployment',
  'ReplicaSet',
  'StatefulSet',
]);

/**
 * The message for an object whose own controller has not reconciled it yet. In a burst that
 * controller is the bottleneck (20 requests a second by default), not core and not the object.
 */
export function awaitedController(object: KubernetesObject | undefined): string | undefined {
  if (object?.apiVersion !== 'apps/v1' || !controlled.has(object.kind)) return undefined;
  const { kind, metadata, status } = object;
  const { generation = 0 } = metadata;
  if ((integerAt(status, 'observedGeneration') ?? 0) >= generation) return undefined;
  return `waiting for the ${kind} controller of Kubernetes to observe generation ${generation}`;
}
