import { fieldAt, listOf, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { computeStatus, podReason } from '../../../core/apply/index.ts';
import { deploymentState } from '../status/deployment-state.ts';
import type { TreeNode } from '../terminal/tree.ts';
import type { Family, FamilyObject } from './family.ts';

/** One object of the tree, for scripts. */
interface TreeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly status: string;
  readonly message: string;
  readonly made: readonly TreeObject[];
}

/** The objects of a deployment, and under each its dependents. `now` is in milliseconds. */
export function treeObjects({ objects, descendants }: Family, now: number): readonly TreeObject[] {
  return objects.map((object) => treeObject(object));

  function treeObject({ uid, ...report }: FamilyObject): TreeObject {
    const { apiVersion, kind, namespace, name, status, message } = report;
    return { apiVersion, kind, namespace, name, status, message, made: madeFor(uid, new Set()) };
  }

  function madeFor(owner: string, seen: ReadonlySet<string>): readonly TreeObject[] {
    // Anybody may write owner references, so they may form a cycle.
    if (owner === '' || seen.has(owner)) return [];
    const above = new Set([...seen, owner]);
    return (descendants.madeBy.get(owner) ?? []).map((object) => ({
      ...described(object, now),
      made: madeFor(object.metadata.uid ?? '', above),
    }));
  }
}

function described(object: KubernetesObject, now: number): Omit<TreeObject, 'made'> {
  const { apiVersion, kind, metadata } = object;
  const { namespace, name = '' } = metadata;
  return { apiVersion, kind, namespace, name, ...stateOf(object, now) };
}

/** Deployment, Bundles, then objects down to Pods. */
export function familyTree(family: Family, objects: readonly TreeObject[]): TreeNode {
  const { deployment, bundles, hidden } = family;
  const { name } = deployment.metadata;
  return {
    cells: [`BundleDeployment/${name}`, deploymentState(deployment).state],
    children: [
      ...bundles.map(({ name: bundle, phase, role, source }) => ({
        cells: [`Bundle/${bundle}`, phase === '' ? 'NotObserved' : phase, `${role}, ${source}`],
      })),
      ...objects.map(objectNode),
      ...hidden.map((kind) => ({ cells: [kind, 'Unknown', 'you may not list this kind'] })),
    ],
  };
}

function objectNode({ kind, namespace, name, status, message, made }: TreeObject): TreeNode {
  const path = namespace === undefined ? `${kind}/${name}` : `${kind}/${namespace}/${name}`;
  return { cells: [path, status, message], children: made.map(objectNode) };
}

/** A state in one word, and its explanation. `now` is in milliseconds. */
interface ObjectState {
  readonly status: string;
  readonly message: string;
}

/** The kstatus; for Pods the words of `kubectl get pods`, with the reason. */
export function stateOf(object: KubernetesObject, now: number): ObjectState {
  const { status, message } = computeStatus(object, now);
  if (object.kind !== 'Pod' || object.apiVersion !== 'v1') return { status, message };
  if (object.metadata.deletionTimestamp !== undefined) return { status, message };
  const phase = stringAt(object['status'], 'phase') ?? 'Unknown';
  return { status: phase, message: podMessage(object) ?? message };
}

/** Why it is not ready, or how many of its containers are. */
function podMessage(pod: KubernetesObject): string | undefined {
  const reason = podReason(pod);
  if (reason !== undefined) return reason;
  const containers = listOf(fieldAt(pod['status'], 'containerStatuses'));
  if (containers.length === 0) return undefined;
  const ready = containers.filter((container) => fieldAt(container, 'ready') === true).length;
  return `${ready} of ${containers.length} containers ready`;
}
