import type { KubernetesObject } from '../../../api/meta.ts';
import { deploymentState } from '../status/deployment-state.ts';
import type { TreeNode } from '../status/tree.ts';
import type { Family, FamilyObject } from './family.ts';
import { stateOf } from './pod-state.ts';

/** One object of a tree, for scripts. */
export interface TreeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly status: string;
  readonly message: string;
  readonly made: readonly TreeObject[];
}

/** What a deployment has applied, and under each object what was made for it. `now` is in milliseconds. */
export function treeObjects({ objects, descendants }: Family, now: number): readonly TreeObject[] {
  return objects.map((object) => treeObject(object));

  function treeObject({ uid, ...report }: FamilyObject): TreeObject {
    const { apiVersion, kind, namespace, name, status, message } = report;
    return { apiVersion, kind, namespace, name, status, message, made: madeFor(uid, new Set()) };
  }

  function madeFor(owner: string, seen: ReadonlySet<string>): readonly TreeObject[] {
    // Owner references are what anybody writes: they may go round.
    if (owner === '' || seen.has(owner)) return [];
    const above = new Set([...seen, owner]);
    return (descendants.madeBy.get(owner) ?? []).map((object) => ({
      ...describe(object, now),
      made: madeFor(object.metadata.uid ?? '', above),
    }));
  }
}

function describe(object: KubernetesObject, now: number): Omit<TreeObject, 'made'> {
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

export function objectNode({ kind, namespace, name, status, message, made }: TreeObject): TreeNode {
  const path = namespace === undefined ? `${kind}/${name}` : `${kind}/${namespace}/${name}`;
  return { cells: [path, status, message], children: made.map(objectNode) };
}
