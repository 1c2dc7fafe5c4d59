import type { BundleDeployment } from '../../../api/v1alpha1/index.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/index.ts';
import { errorMessage, type KubeClient } from '../../../core/controller.ts';
import type { Extension } from '../extension.ts';
import type { Choice, ResolvedChoice } from '../findings.ts';
import { type BundleRecord, bundleVersion } from './bundle-record.ts';
import { classOf, desiredObject, isApplied } from './desired-deployment.ts';
import type { Installation } from './installation.ts';

const fieldManager = 'operator-controller';

export interface Placed {
  /** Set if the BundleDeployment was written. */
  readonly deployment?: BundleDeployment;
  /** Why the BundleDeployment is not as it should be. */
  readonly refusal?: string;
  /** Set if another attempt may help although nothing changes. */
  readonly error?: Error;
}

interface PlaceRequest {
  readonly extension: Extension;
  readonly installation: Installation;
  readonly choice: Choice;
  readonly signal: AbortSignal;
}

/**
 * Writes the BundleDeployment of the chosen bundle. Without a choice, the bundle that was chosen
 * before stays: with the settings of the present spec, and repaired.
 */
export async function place(
  { extension, installation, choice, signal }: PlaceRequest,
  client: Pick<KubeClient, 'apply'>,
): Promise<Placed> {
  if (installation.conflict !== undefined) return { refusal: installation.conflict };
  const { settings } = extension;
  const desired = desiredOf(installation, choice);
  if (settings === undefined || desired === undefined) return {};
  if ('refusal' in desired) return desired;
  const object = desiredObject({ ...extension, settings }, installation, desired);
  if (isApplied(installation.deployment, object)) return {};
  try {
    // One that somebody else has just created, and the watch has not shown, is not taken over.
    const force = installation.deployment !== undefined;
    const options = { fieldManager, force, signal };
    const deployment = await client.apply(bundleDeploymentResource, object, options);
    return { deployment: deployment as BundleDeployment };
  } catch (error) {
    if (signal.aborted || !(error instanceof Error)) throw error;
    return { refusal: errorMessage(error), error };
  }
}

function desiredOf(
  { record }: Installation,
  choice: Choice,
): BundleRecord | { readonly refusal: string } | undefined {
  if (choice.kind !== 'resolved') return record?.selected;
  try {
    return recordOf(choice);
  } catch (error) {
    return { refusal: errorMessage(error) };
  }
}

function recordOf({ bundle, catalog, packageName }: ResolvedChoice): BundleRecord {
  const { name, image } = bundle;
  return {
    package: packageName,
    name,
    version: bundleVersion(bundle),
    image,
    catalog: catalog.name,
    className: classOf(bundle),
  };
}
