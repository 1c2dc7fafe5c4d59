import type { KubernetesObject, OwnerReference } from '../../api/meta.ts';
import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { annotation, finalizer, label } from '../../api/v1alpha1/labels.ts';
import { bundleResource } from '../../api/v1alpha1/resources.ts';
import { bundleName, templateHash } from '../../api/v1alpha1/rules/template-hash.ts';
import { unresolvedNote } from '../bundle/index.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../platform/kube/index.ts';
import { isMadeFrom, isOwn } from './bundles.ts';
import type { BundleDeploymentDependencies } from './dependencies.ts';
import { longestWait, type PhaseContext } from './phase.ts';

/** Creates the Bundle for the deployment's template. */
export async function createBundle(
  deployment: BundleDeployment,
  dependencies: Pick<
    BundleDeploymentDependencies,
    'client' | 'bundles' | 'bundleClasses' | 'sources'
  >,
  { signal, wakeAfter }: Pick<PhaseContext, 'signal' | 'wakeAfter'>,
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
    // The cache may lag behind core's own create; core does not take over a foreign Bundle of that
    // name.
    if (isMadeFrom(live, deployment, hash)) return live;
    // Its deletion sends no event, because it may lack labels.
    wakeAfter(longestWait);
    throw new Error(
      `Bundle "${key.name}" exists and was not made for this template (${madeBy(live)}): delete it, or give the BundleDeployment another name`,
      { cause: error },
    );
  }
}

/**
 * Otherwise its reconciler would add the finalizer and the empty content annotation with a request
 * of its own, and a reconciler in another process may not run.
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

/**
 * Who made a Bundle, as far as the API server knows: it records programs (field managers), not
 * users.
 */
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

/** The Bundle for a deployment's template. */
export function desiredBundle(deployment: BundleDeployment, hash: string): Bundle {
  const { name = '' } = deployment.metadata;
  const { metadata, spec } = deployment.spec.template;
  const { [label.partOf]: _, ...labels } = metadata?.labels ?? {};
  const {
    [annotation.configured]: __,
    [annotation.pin]: ___,
    ...annotations
  } = metadata?.annotations ?? {};
  return {
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'Bundle',
    metadata: {
      name: bundleName(name, hash),
      labels: {
        ...labels,
        [label.ownerKind]: 'BundleDeployment',
        [label.ownerName]: name,
        [label.templateHash]: hash,
      },
      ...(metadata?.annotations === undefined ? {} : { annotations }),
      ownerReferences: [ownerReferenceTo(deployment)],
    },
    spec,
  };
}

export function ownerReferenceTo({ metadata }: BundleDeployment): OwnerReference {
  const { name = '', uid = '' } = metadata;
  return {
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'BundleDeployment',
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}

type Classes = Pick<BundleDeploymentDependencies, 'bundleClasses'>;

/** Marks a Bundle whose class adapts the content to spec.config before it is deployed. */
const mark = { [annotation.configured]: 'true' };

/** A new Bundle, with the mark if it needs it. */
function withMark(bundle: Bundle, deployment: BundleDeployment, classes: Classes): Bundle {
  if (!isConfigured(deployment, classes)) return bundle;
  const annotations = { ...bundle.metadata.annotations, ...mark };
  return { ...bundle, metadata: { ...bundle.metadata, annotations } };
}

interface Surroundings {
  readonly dependencies: BundleDeploymentDependencies;
  readonly signal: AbortSignal;
}

/**
 * Sets or removes the mark of an existing Bundle when the config is added or removed: core then
 * unpacks again a Bundle that failed without the mark. Sends no request when the mark is right, or
 * when the deployment does not own the Bundle.
 */
export async function keepMark(
  bundle: Bundle,
  deployment: BundleDeployment,
  surroundings: Surroundings,
): Promise<Bundle> {
  const wanted = isConfigured(deployment, surroundings.dependencies)
    ? mark[annotation.configured]
    : undefined;
  if (bundle.metadata.annotations?.[annotation.configured] === wanted) return bundle;
  if (bundle.metadata.deletionTimestamp !== undefined || !isOwn(bundle, deployment)) return bundle;
  try {
    return await writeMark(bundle, wanted, surroundings);
  } catch (error) {
    // The cache has not shown yet that the Bundle was deleted or replaced.
    if (isNotFound(error) || isConflict(error)) return bundle;
    throw error;
  }
}

async function writeMark(
  { metadata: { name = '', uid = '' } }: Bundle,
  value: string | undefined,
  { dependencies: { client, bundles }, signal }: Surroundings,
): Promise<Bundle> {
  // With the uid, the API server refuses the patch for a replaced Bundle.
  const patch = { metadata: { uid, annotations: { [annotation.configured]: value ?? null } } };
  const target = { resource: bundleResource, key: { name } };
  const marked = (await client.patch(target, patch, { type: 'merge', signal })) as Bundle;
  bundles.upsertIfNewer(marked);
  return marked;
}

/** Without a class that adapts content, the content is deployed unchanged. */
function isConfigured({ spec }: BundleDeployment, { bundleClasses }: Classes): boolean {
  if (spec.config === undefined) return false;
  return bundleClasses.get(spec.template.spec.provisionerClassName)?.configure !== undefined;
}
