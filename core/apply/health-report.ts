import { integerAt } from '../../api/json-fields.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import type { Clock } from '../platform/clock.ts';
import type { KubeClient } from '../platform/kube/index.ts';
import type { DriftDetector } from './drift/drift.ts';
import { isPodsController, workloadReason } from './health/pod-reason.ts';
import { clientOf } from './privilege/permissions.ts';
import type { OwnerState, OwnerStates, PodReasonsOf } from './state/owner-state.ts';

/** Each takes two requests, and one is most often the cause of the rest. */
const askedWorkloads = 2;
/** Milliseconds for which an answer holds: a burst of installs must not become one of requests. */
const patience = 60_000;

interface PodReasonsOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly owners: OwnerStates;
  readonly drift: Pick<DriftDetector, 'health'>;
}

/** Why pods of unhealthy workloads do not get ready, with the permissions of their owner. */
export class PodReasons {
  readonly #options: PodReasonsOptions;

  constructor(options: PodReasonsOptions) {
    this.#options = options;
  }

  /** By the line that tells of the workload. What the API server does not show is not told. */
  async of(owner: BundleDeployment, signal: AbortSignal): Promise<PodReasonsOf['byLine']> {
    const { clock, owners } = this.#options;
    const state = owners.of(owner.metadata.name ?? '');
    const now = clock.monotonic();
    const known = state.podReasons;
    if (known !== undefined && now - known.at < patience) return known.byLine;
    const byLine = await this.#ask(owner, state, signal);
    state.podReasons = { at: now, byLine };
    return byLine;
  }

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
