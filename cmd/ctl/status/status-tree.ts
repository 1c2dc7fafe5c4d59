import { kstatusCondition } from '../../../api/v1alpha1/conditions.ts';
import type { TreeNode } from '../terminal/tree.ts';
import type { BundleReport } from './bundle-report.ts';
import { deploymentState } from './deployment-state.ts';
import { isHealthy, type ObjectReport } from './object-report.ts';
import type { StatusReport } from './status-report.ts';

/** Above this number, only unhealthy objects are listed. */
const listedObjects = 50;

/** Conditions that repeat Ready for programs. */
const repeats: ReadonlySet<string> = new Set([
  kstatusCondition.reconciling,
  kstatusCondition.stalled,
]);

/** Deployment, then conditions, Bundles and objects. */
export function statusTree(
  report: StatusReport,
  options: { readonly allObjects: boolean },
): TreeNode {
  const { deployment, name, bundles } = report;
  const conditions = (deployment.status?.conditions ?? []).filter(({ type }) => !repeats.has(type));
  const { state } = deploymentState(deployment);
  return {
    cells: [`BundleDeployment/${name}`, state, `class ${deployment.spec.provisionerClassName}`],
    children: [
      {
        cells: [conditions.length === 0 ? 'no conditions' : 'conditions'],
        children: conditions.map(({ type, status, reason, message }) => ({
          cells: [type, status, reason, message],
        })),
      },
      {
        cells: [bundles.length === 0 ? 'no Bundles' : 'Bundles'],
        children: bundles.map(bundleNode),
      },
      objectsNode(report, options.allObjects),
    ],
  };
}

function bundleNode(bundle: BundleReport): TreeNode {
  const { name, role, phase, source, resolvedSource, message } = bundle;
  const pin =
    resolvedSource === undefined || resolvedSource === source ? '' : ` -> ${resolvedSource}`;
  const why = message === undefined ? '' : `: ${message}`;
  return { cells: [name, role, phase === '' ? 'NotObserved' : phase, `${source}${pin}${why}`] };
}

function objectsNode({ objects }: StatusReport, allObjects: boolean): TreeNode {
  const { total, healthy, items, hidden } = objects;
  const listed =
    allObjects || items.length <= listedObjects ? items : items.filter((item) => !isHealthy(item));
  const more = listed.length < items.length ? ' (healthy ones are listed with --all-objects)' : '';
  const unseen = hidden.map((kind) => ({ cells: [kind, 'Unknown', 'you may not list this kind'] }));
  return {
    cells: [items.length === 0 ? 'no objects' : `objects: ${healthy} of ${total} healthy${more}`],
    children: [...listed.map(objectNode), ...unseen],
  };
}

function objectNode({ kind, namespace, name, status, message, hook }: ObjectReport): TreeNode {
  const path = namespace === undefined ? `${kind}/${name}` : `${kind}/${namespace}/${name}`;
  return { cells: [path, status, hook === undefined ? message : `hook: ${message}`] };
}
