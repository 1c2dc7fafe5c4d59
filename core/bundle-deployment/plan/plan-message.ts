import type { PlanStatus } from '../../../api/v1alpha1/deployment-progress.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';

const listedProblems = 3;

/** Numbers of a plan, as `2 to create, 1 to change, 0 to delete, 4 unchanged`. */
export function planCounts(
  plan: Pick<PlanStatus, 'create' | 'change' | 'delete' | 'unchanged'>,
): string {
  return `${plan.create} to create, ${plan.change} to change, ${plan.delete} to delete, ${plan.unchanged} unchanged`;
}

/**
 * What the plan of a deployment waits for; `outdated` is the digest that was approved, where it is
 * another one's.
 */
export function planMessage(name: string, plan: PlanStatus, outdated: string | undefined): string {
  const { bundle, digest, problems } = plan;
  const changed =
    outdated === undefined
      ? ''
      : `the plan ${outdated.slice(0, digest.length)} that was approved is not the plan any more: the cluster or the bundle has changed since. `;
  const what = `${changed}the plan of Bundle ${bundle} (${planCounts(plan)})`;
  if (problems !== undefined) {
    const listed = problems.slice(0, listedProblems).join('; ');
    const rest = problems.length > listedProblems ? '; and more' : '';
    return `${what} cannot be approved, because it would fail: ${listed}${rest}. See all of it with "rukpakctl plan ${name}"`;
  }
  return (
    `${what} waits for approval: see it with "rukpakctl plan ${name}", approve it with ` +
    `"rukpakctl approve ${name}" or ` +
    `"kubectl annotate --overwrite bundledeployment ${name} ${annotation.approve}=${digest}"`
  );
}
