import type { KubernetesObject } from '../../../api/meta.ts';
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
  /** Set if nothing was done, since the extension is not what it was. */
  readonly isOutdated?: true;
}

interface PlaceRequest {
  readonly extension: Extension;
  readonly installation: Installation;
  readonly choice: Choice;
  /** Whether the extension is at the API server what it is here. */
  readonly isCurrent: () => Promise<boolean>;
  readonly signal: AbortSignal;
}

/**
 * Writes the BundleDeployment of the chosen bundle. Without a choice, the bundle that was chosen
 * before stays: with the settings of the present spec, and repaired.
 */
export async function place(
  request: PlaceRequest,
  client: Pick<KubeClient, 'apply'>,
): Promise<Placed> {
  const { extension, installation, choice } = request;
  if (installation.conflict !== undefined) return { refusal: installation.conflict };
  const { settings } = extension;
  const desired = desiredOf(installation, choice);
  if (settings === undefined || desired === undefined) return {};
  if ('refusal' in desired) return desired;
  const object = desiredObject({ ...extension, settings }, installation, desired);
  if (isApplied(installation.deployment, object)) return {};
  const isWatchEnough = !isOrphan(installation) && !isReplaced(installation, desired);
  return await write(object, { ...request, isWatchEnough }, client);
}

async function write(
  object: KubernetesObject,
  request: PlaceRequest & { readonly isWatchEnough: boolean },
  client: Pick<KubeClient, 'apply'>,
): Promise<Placed> {
  const { installation, signal, isCurrent, isWatchEnough } = request;
  try {
    if (!isWatchEnough && !(await isCurrent())) return { isOutdated: true };
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

/**
 * With --cascade=orphan, a BundleDeployment may be seen without an owner before the deletion is: owned
 * again, it would be deleted with all that it installed.
 */
function isOrphan({ deployment }: Installation): boolean {
  const { ownerReferences = [] } = deployment?.metadata ?? {};
  return deployment !== undefined && !ownerReferences.some(({ controller }) => controller === true);
}

/** A watch may be silent for minutes, and the spec exclude the upgrade since. */
function isReplaced({ deployment, record }: Installation, { image }: BundleRecord): boolean {
  return deployment !== undefined && record?.selected.image !== image;
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
