import { annotation } from '../../../api/v1alpha1/labels.ts';
import type { FullPlan } from './full-plan.ts';

const listedProblems = 3;
const shownLength = 1_000;

/** Numbers of a plan, as `2 to create, 1 to change, 0 to delete, 4 unchanged`. */
export function planCounts(
  plan: Pick<FullPlan, 'create' | 'change' | 'delete' | 'unchanged'>,
): string {
  return `${plan.create} to create, ${plan.change} to change, ${plan.delete} to delete, ${plan.unchanged} unchanged`;
}

/** What a plan waits for; `outdated` is the digest that was approved, where it is another one's. */
export function planMessage(plan: FullPlan, outdated: string | undefined): string {
  const { bundleDeployment: name, bundle, digest, problems } = plan;
  const changed =
    outdated === undefined
      ? ''
      : `the plan ${outdated} that was approved is not the plan any more: the cluster or the bundle has changed since. `;
  const what = `${changed}the plan of Bundle ${bundle} (${planCounts(plan)})`;
  if (problems.length > 0) {
    const shown = problems.slice(0, listedProblems).map((text) => text.slice(0, shownLength));
    const listed = shown.join('; ');
    const more = problems.length - listedProblems;
    const rest = more > 0 ? `; and ${more} more` : '';
    return `${what} cannot be approved, because it would fail: ${listed}${rest}. See all of it with "rukpakctl plan ${name}"`;
  }
  return (
    `${what} waits for approval: see it with "rukpakctl plan ${name}", approve it with ` +
    `"rukpakctl approve ${name}" or ` +
    `"kubectl annotate --overwrite bundledeployment ${name} ${annotation.approve}=${digest}"`
  );
}
