import { createHmac } from 'node:crypto';
import type { KubernetesObject } from '../../../api/meta.ts';
import { installNamespaceOf } from '../../../api/v1alpha1/install-namespace.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import { digestOfAll } from '../hooks/revision.ts';
import type { BundleDeploymentState, StepContext } from '../state.ts';
import { loadObjects } from '../steps/load-objects.ts';

interface KnownContent {
  readonly place: string;
  readonly digest: string;
}

/** By the list of objects, which comes and goes with a rendering; a deployment is looked at often. */
const known = new WeakMap<readonly KubernetesObject[], KnownContent>();

/** Loads the target's objects, and notes the digest of all of them and of where they go. */
export async function loadContent(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<void> {
  await loadObjects(state, dependencies, context);
  const { deployment, target, objects = [], hooks = [], recipe } = state;
  const namespace = installNamespaceOf(deployment, dependencies.systemNamespace);
  const { uid = '' } = target?.metadata ?? {};
  const place = JSON.stringify([uid, namespace]);
  const found = known.get(objects);
  if (found?.place === place) {
    state.content = found.digest;
    return;
  }
  // What is generated, and only Secrets of objects have, cannot be guessed without the seed.
  const hmac = createHmac('sha256', recipe?.facts.seed ?? '').update(place);
  const digest = await digestOfAll([...hooks, ...objects], hmac, context.signal);
  known.set(objects, { place, digest });
  state.content = digest;
}
