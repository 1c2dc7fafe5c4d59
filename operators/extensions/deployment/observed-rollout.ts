import { progressReason } from '../../../api/v1alpha1/index.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { type Installation, templateBundle } from './installation.ts';
import { type Rollout, rolloutOf } from './rollout.ts';

/** What core has done, by reason of Ready. */
const rollbacks: ReadonlyMap<string, string> = new Map([
  [progressReason.rollingBack, 'began to roll back'],
  [progressReason.rolledBack, 'rolled back'],
]);

/**
 * How far core is with the BundleDeployment. Reports a rollback by the names of the catalog, with
 * what to do about it: the controller would revert what core advises for a BundleDeployment.
 */
export function observedRollout({ deployment, record }: Installation): Rollout | undefined {
  if (deployment === undefined) return undefined;
  const rollout = rolloutOf(deployment);
  const { rollback } = deployment.status ?? {};
  const done = rollbacks.get(rollout.reason);
  if (done === undefined || rollback === undefined) return rollout;
  const from = templateBundle(deployment, record).name || rollback.from;
  const earlier = record?.earlier.find(({ bundle }) => bundle === rollback.to);
  const to = earlier?.name || rollback.to;
  const message =
    `Core ${done} to bundle "${to}" at ${rollback.at}, because "${from}" was ${rollback.reason}. ` +
    `Core does not retry "${from}": wait for another version in the catalog, request another ` +
    `version, or remove annotation ${annotation.rollbackDeadline} to retry "${from}" without a deadline`;
  return { ...rollout, message };
}
