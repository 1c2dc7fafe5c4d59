import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { annotation } from '../../api/v1alpha1/labels.ts';
import { bundleResource } from '../../api/v1alpha1/resources.ts';
import { isConflict, isNotFound } from '../platform/kube/index.ts';
import type { BundleDeploymentDependencies } from './dependencies.ts';
import { isOwn } from './own-bundles.ts';

type Classes = Pick<BundleDeploymentDependencies, 'bundleClasses'>;

/** The mark of a Bundle whose content will be adapted to a spec.config before it is deployed. */
const mark = { [annotation.configured]: 'true' };

/** A new Bundle, with the mark where it is to have it. */
export function withMark(bundle: Bundle, deployment: BundleDeployment, classes: Classes): Bundle {
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
