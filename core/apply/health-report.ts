import { integerAt } from '../../api/json-fields.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import type { HealthProblem } from '../contracts/applier.ts';
import type { Clock } from '../platform/clock.ts';
import type { KubeClient } from '../platform/kube/index.ts';
import type { DriftDetector } from './drift/drift.ts';
import { isPodsController, workloadReason } from './health/pod-reason.ts';
import type { Inventory } from './inventory/inventory.ts';
import { clientOf } from './privilege/permissions.ts';
import type { AppliedRecord } from './state/applied-record.ts';
import type { OwnerState, OwnerStates, PodReasonsOf } from './state/owner-state.ts';

/** Each takes two requests, and one is most often the cause of the rest. */
const askedWorkloads = 2;
/** Milliseconds for which an answer holds: a burst of installs must not become one of requests. */
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
  /** The owner's rules are to judge the object, and its message says only that they have not. */
  readonly isUnjudged: boolean;
}

/** What is not healthy of the objects that a deployment has, by what the watches know. */
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

  /** With why pods of unhealthy workloads do not get ready: asks the API server for it. */
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

  /** By the line that tells of the workload. What the API server does not show is not told. */
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

  /** With the permissions of the owner. */
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

/** The problems, but one alone of all objects that the owner's rules have not judged. */
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

/** Kinds whose status kube-controller-manager writes, with the generation that it has seen. */
const controlled: ReadonlySet<string> = new Set([
  'DaemonSet',
  'Deployment',
  'ReplicaSet',
  'StatefulSet',
]);

/**
 * What is told of an object whose own controller has not looked at it yet: that one is the bound, in
 * a burst at 20 requests a second by default, and neither core nor the object.
 */
export function awaitedController(object: KubernetesObject | undefined): string | undefined {
  if (object?.apiVersion !== 'apps/v1' || !controlled.has(object.kind)) return undefined;
  const { kind, metadata, status } = object;
  const { generation = 0 } = metadata;
  if ((integerAt(status, 'observedGeneration') ?? 0) >= generation) return undefined;
  return `waiting for the ${kind} controller of Kubernetes to observe generation ${generation}`;
}
