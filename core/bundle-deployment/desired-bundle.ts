import type { KubernetesObject, OwnerReference } from '../../api/meta.ts';
import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { annotation, finalizer, label } from '../../api/v1alpha1/labels.ts';
import { bundleResource } from '../../api/v1alpha1/resources.ts';
import { isMadeFrom, isOwn } from '../../api/v1alpha1/rules/generated-bundle.ts';
import { bundleName, templateHash } from '../../api/v1alpha1/rules/template-hash.ts';
import { unresolvedNote } from '../bundle/index.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../platform/kube/index.ts';
import type { BundleDeploymentDependencies } from './dependencies.ts';
import { longestWait, type PhaseContext } from './phase.ts';
import { checkMayUse, readerMark } from './source-reader.ts';

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
  const desired = withMarks(plain, deployment, dependencies);
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
    if (isMadeFrom(live, deployment, hash)) {
      checkMayUse(live, deployment, dependencies);
      return live;
    }
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
    [annotation.sourceReader]: ____,
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
type Marking = Classes & Pick<BundleDeploymentDependencies, 'sources'>;

/** Annotations by which the deployment tells the Bundle's reconciler of its spec. */
interface Marks {
  /** Set for a class that adapts the content to spec.config before it is deployed. */
  readonly [annotation.configured]: string | undefined;
  readonly [annotation.sourceReader]: string | undefined;
}

function wantedMarks(bundle: Bundle, deployment: BundleDeployment, marking: Marking): Marks {
  return {
    [annotation.configured]: isConfigured(deployment, marking) ? 'true' : undefined,
    [annotation.sourceReader]: readerMark(bundle, deployment, marking.sources),
  };
}

/** A new Bundle, with the marks that it needs. */
function withMarks(bundle: Bundle, deployment: BundleDeployment, marking: Marking): Bundle {
  const wanted = Object.entries(wantedMarks(bundle, deployment, marking));
  const marks = wanted.filter((mark): mark is [string, string] => mark[1] !== undefined);
  if (marks.length === 0) return bundle;
  const annotations = { ...bundle.metadata.annotations, ...Object.fromEntries(marks) };
  return { ...bundle, metadata: { ...bundle.metadata, annotations } };
}

interface Surroundings {
  readonly dependencies: BundleDeploymentDependencies;
  readonly signal: AbortSignal;
}

/**
 * Sets or removes the marks of an existing Bundle when config or account of the deployment change:
 * core then unpacks again a Bundle that failed. Sends no request when the marks are right, or when
 * the deployment does not own the Bundle.
 */
export async function keepMarks(
  bundle: Bundle,
  deployment: BundleDeployment,
  surroundings: Surroundings,
): Promise<Bundle> {
  const { annotations = {}, deletionTimestamp } = bundle.metadata;
  const wanted = Object.entries(wantedMarks(bundle, deployment, surroundings.dependencies));
  const changed = wanted.filter(([key, value]) => annotations[key] !== value);
  if (changed.length === 0) return bundle;
  if (deletionTimestamp !== undefined || !isOwn(bundle, deployment)) return bundle;
  try {
    const marks = Object.fromEntries(changed.map(([key, value]) => [key, value ?? null]));
    return await writeMarks(bundle, marks, surroundings);
  } catch (error) {
    // The cache has not shown yet that the Bundle was deleted or replaced.
    if (isNotFound(error) || isConflict(error)) return bundle;
    throw error;
  }
}

async function writeMarks(
  { metadata: { name = '', uid = '' } }: Bundle,
  annotations: Readonly<Record<string, string | null>>,
  { dependencies: { client, bundles }, signal }: Surroundings,
): Promise<Bundle> {
  // With the uid, the API server refuses the patch for a replaced Bundle.
  const patch = { metadata: { uid, annotations } };
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
