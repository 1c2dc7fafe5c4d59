import type { KubernetesObject } from '../../../api/meta.ts';
import { digestOf } from '../../apply/digest.ts';
import type { BundleDeploymentState } from '../state.ts';

type RevisionState = Pick<BundleDeploymentState, 'target' | 'objects' | 'hooks'>;

interface KnownRevision {
  readonly bundle: string;
  readonly revision: string;
}

/** By the list of hooks, which comes and goes with the objects; a deployment is looked at often. */
const known = new WeakMap<readonly KubernetesObject[], KnownRevision>();

/** Another one for another Bundle, and for anything else that its objects and hooks are made to be. */
export function revisionOf({ target, objects = [], hooks = [] }: RevisionState): string {
  const bundle = target?.metadata.name ?? '';
  const found = known.get(hooks);
  if (found?.bundle === bundle) return found.revision;
  const revision = digestOf([bundle, objects, hooks]);
  known.set(hooks, { bundle, revision });
  return revision;
}
