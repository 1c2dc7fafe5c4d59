import type { KubernetesObject, OwnerReference } from '../../api/meta.ts';
import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { annotation, finalizer, label } from '../../api/v1alpha1/labels.ts';
import { bundleResource } from '../../api/v1alpha1/resources.ts';
import { bundleName, templateHash } from '../../api/v1alpha1/template-hash.ts';
import { unresolvedNote } from '../bundle/index.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../platform/kube/index.ts';
import { isMadeFrom, isOwn } from './bundles.ts';
import type { BundleDeploymentDependencies } from './dependencies.ts';
import { longestWait, type PhaseContext } from './phase.ts';

/** Makes the Bundle that the deployment's template asks for. */
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

/** The Bundle that a deployment's template asks for. */
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

/** The mark of a Bundle whose content will be adapted to a spec.config before it is deployed. */
const mark = { [annotation.configured]: 'true' };

/** A new Bundle, with the mark where it is to have it. */
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
 * Sets or removes the mark of a Bundle that is there, as the config comes or goes: one that could not
 * be unpacked without it is tried again. Nothing is asked for where it is right already, or where
 * the Bundle is not the deployment's.
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
    // The cache is yet to tell that it is gone, or that a namesake has come.
    if (isNotFound(error) || isConflict(error)) return bundle;
    throw error;
  }
}

async function writeMark(
  { metadata: { name = '', uid = '' } }: Bundle,
  value: string | undefined,
  { dependencies: { client, bundles }, signal }: Surroundings,
): Promise<Bundle> {
  // The uid is refused where a namesake has come.
  const patch = { metadata: { uid, annotations: { [annotation.configured]: value ?? null } } };
  const target = { resource: bundleResource, key: { name } };
  const marked = (await client.patch(target, patch, { type: 'merge', signal })) as Bundle;
  bundles.upsertIfNewer(marked);
  return marked;
}

/** Without a class that adapts the content here, it has to do as it is. */
function isConfigured({ spec }: BundleDeployment, { bundleClasses }: Classes): boolean {
  if (spec.config === undefined) return false;
  return bundleClasses.get(spec.template.spec.provisionerClassName)?.configure !== undefined;
}
