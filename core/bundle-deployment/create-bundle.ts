import type { KubernetesObject } from '../../api/meta.ts';
import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { finalizer } from '../../api/v1alpha1/labels.ts';
import { bundleResource } from '../../api/v1alpha1/resources.ts';
import { templateHash } from '../../api/v1alpha1/template-hash.ts';
import { unresolvedNote } from '../bundle/index.ts';
import { isAlreadyExists } from '../platform/kube/index.ts';
import { withMark } from './configured-mark.ts';
import type { BundleDeploymentDependencies } from './dependencies.ts';
import { desiredBundle } from './desired-bundle.ts';
import { isMadeFrom } from './is-made-from.ts';
import { longestWait } from './longest-wait.ts';
import type { StepContext } from './state.ts';

/** Makes the Bundle that the deployment's template asks for. */
export async function createBundle(
  deployment: BundleDeployment,
  dependencies: Pick<
    BundleDeploymentDependencies,
    'client' | 'bundles' | 'bundleClasses' | 'sources'
  >,
  { signal, wakeAfter }: Pick<StepContext, 'signal' | 'wakeAfter'>,
): Promise<Bundle> {
  const { client, bundles } = dependencies;
  const hash = templateHash(deployment.spec.template);
  const plain = withFinalizer(desiredBundle(deployment, hash), dependencies);
  const desired = withMark(plain, deployment, dependencies);
  try {
    const created = (await client.create(bundleResource, desired, signal)) as Bundle;
    bundles.upsertIfNewer(created);
    return created;
  } catch (error) {
    if (!isAlreadyExists(error)) {
      wakeAfter(longestWait);
      throw error;
    }
    const key = { name: desired.metadata.name ?? '' };
    const live = (await client.get(bundleResource, key, signal)) as Bundle;
    // The cache may lag behind our own create; a stranger of that name is not taken over.
    if (isMadeFrom(live, deployment, hash)) return live;
    // Nobody tells when it is gone: it may have no labels.
    wakeAfter(longestWait);
    throw new Error(
      `Bundle "${key.name}" exists and was not made for this template (${madeBy(live)}): delete it, or give the BundleDeployment another name`,
      { cause: error },
    );
  }
}

/**
 * Its reconciler would add it and the empty note of its content, with a request of its own; where
 * that one is another process, it may not run.
 */
function withFinalizer(
  bundle: Bundle,
  { bundleClasses, sources }: Pick<BundleDeploymentDependencies, 'bundleClasses' | 'sources'>,
): Bundle {
  if (!bundleClasses.has(bundle.spec.provisionerClassName)) return bundle;
  const finalizers = [finalizer.deleteCachedBundle];
  const metadata = { ...bundle.metadata, finalizers };
  const note = unresolvedNote(bundle.spec.source, sources);
  if (note === undefined) return { ...bundle, metadata };
  const annotations = { ...metadata.annotations, ...note };
  return { ...bundle, metadata: { ...metadata, annotations } };
}

/** What the API server knows of who made a Bundle: it keeps no users, but the programs that they use. */
function madeBy({ metadata }: KubernetesObject): string {
  const { creationTimestamp, ownerReferences = [] } = metadata;
  const entries = (metadata as { readonly managedFields?: readonly ManagedFields[] }).managedFields;
  const [first] = (entries ?? []).toSorted((a, b) => ((a.time ?? '') < (b.time ?? '') ? -1 : 1));
  const owner = ownerReferences.find(({ controller }) => controller);
  return [
    ...(creationTimestamp == null ? [] : [`made ${creationTimestamp}`]),
    ...(first?.manager === undefined ? [] : [`by "${first.manager}"`]),
    owner === undefined ? 'no owner' : `owner ${owner.kind} "${owner.name}" with UID ${owner.uid}`,
  ].join(', ');
}

interface ManagedFields {
  readonly manager?: string;
  readonly time?: string;
}
