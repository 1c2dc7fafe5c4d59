import { setTimeout as delay } from 'node:timers/promises';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { PlanStatus } from '../../../api/v1alpha1/deployment-plan.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource as resource } from '../../../api/v1alpha1/resources.ts';
import { TerminalError } from '../../../core/errors.ts';
import { isConflict, type KubeClient } from '../../../core/platform/kube/index.ts';
import { conditionOf } from '../status/deployment-state.ts';

const pollInterval = 250;

interface Approval {
  readonly name: string;
  /** Digest of the only plan to approve (default: the present one). */
  readonly digest: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * Approves the plan that the deployment waits with, and returns it. Does not approve a plan that
 * changes meanwhile.
 * @throws TerminalError when there is no such plan, or when it would fail.
 */
export async function approvePlan(
  client: Pick<KubeClient, 'get' | 'patch'>,
  { name, digest, signal }: Approval,
): Promise<PlanStatus> {
  let wanted = digest;
  for (;;) {
    const live = await deploymentOf(client, name, signal);
    const plan = planToApprove(live, wanted);
    wanted = plan.digest;
    const { uid, resourceVersion } = live.metadata;
    const annotations = { [annotation.approve]: plan.digest };
    try {
      const metadata = { uid, resourceVersion, annotations };
      await client.patch({ resource, key: { name } }, { metadata }, { type: 'merge', signal });
      return plan;
    } catch (error) {
      // The deployment has changed: check whether the plan is still the same.
      if (!isConflict(error)) throw error;
    }
  }
}

function planToApprove(
  { metadata, status }: BundleDeployment,
  wanted: string | undefined,
): PlanStatus {
  const { name } = metadata;
  const plan = status?.plan;
  if (plan === undefined)
    throw new TerminalError(
      `BundleDeployment "${name}" has no plan that waits for approval: see "rukpakctl status ${name}"`,
    );
  if (wanted !== undefined && wanted !== plan.digest) {
    throw new TerminalError(
      `the plan of "${name}" has changed: its digest is ${plan.digest}, not ${wanted}. See it with "rukpakctl plan ${name}"`,
    );
  }
  const [problem] = plan.problems ?? [];
  if (problem === undefined) return plan;
  throw new TerminalError(`the plan of "${name}" would fail: ${problem}`);
}

/** @throws TerminalError when another plan must be approved first, or after the timeout. */
export async function awaitApplied(
  client: Pick<KubeClient, 'get'>,
  { name, plan, signal }: { name: string; plan: PlanStatus; signal: AbortSignal },
): Promise<void> {
  let last = '';
  for (;;) {
    const live = await deploymentOf(client, name, signal).catch((error: unknown) => {
      throw signal.aborted ? notInTime(name, last) : error;
    });
    const { status } = live;
    if (isApplied(live, plan)) return;
    if (status?.plan !== undefined && status.plan.digest !== plan.digest) {
      throw new TerminalError(
        `the plan of "${name}" has changed before it was applied: see it with "rukpakctl plan ${name}"`,
      );
    }
    last = conditionOf(live, 'Installed')?.message ?? '';
    await delay(pollInterval, undefined, { signal }).catch(() => {
      throw notInTime(name, last);
    });
  }
}

function isApplied(live: BundleDeployment, plan: PlanStatus): boolean {
  const { approval, plan: waiting, activeBundle } = live.status ?? {};
  return (
    approval?.digest === plan.digest &&
    waiting === undefined &&
    activeBundle === plan.bundle &&
    conditionOf(live, 'Installed')?.status === 'True'
  );
}

function notInTime(name: string, last: string): TerminalError {
  const state = last === '' ? '' : `: ${last}`;
  return new TerminalError(`the plan of "${name}" is approved, but not applied yet${state}`);
}

async function deploymentOf(
  client: Pick<KubeClient, 'get'>,
  name: string,
  signal: AbortSignal,
): Promise<BundleDeployment> {
  return (await client.get(resource, { name }, signal)) as BundleDeployment;
}
