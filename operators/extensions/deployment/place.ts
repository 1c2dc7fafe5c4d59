import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/index.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/index.ts';
import {
  errorMessage,
  type KubeClient,
  type Resource,
  unlessGone,
} from '../../../core/controller.ts';
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
  /** Of the extension. */
  readonly resource: Resource;
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
  request: PlaceRequest,
  client: Pick<KubeClient, 'apply' | 'get'>,
): Promise<Placed> {
  const { extension, installation, choice } = request;
  if (installation.conflict !== undefined) return { refusal: installation.conflict };
  const { settings } = extension;
  const desired = desiredOf(installation, choice);
  if (settings === undefined || desired === undefined) return {};
  if ('refusal' in desired) return desired;
  const object = desiredObject({ ...extension, settings }, installation, desired);
  return isApplied(installation.deployment, object) ? {} : await write(object, request, client);
}

async function write(
  object: KubernetesObject,
  request: PlaceRequest,
  client: Pick<KubeClient, 'apply' | 'get'>,
): Promise<Placed> {
  const { installation, signal } = request;
  try {
    if (isOrphan(installation) && !(await isKept(request, client))) return {};
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

function isOrphan({ deployment }: Installation): boolean {
  const { ownerReferences = [] } = deployment?.metadata ?? {};
  return deployment !== undefined && !ownerReferences.some(({ controller }) => controller === true);
}

/**
 * Whether the extension is there to stay. With --cascade=orphan, its BundleDeployment may be seen
 * without an owner before its deletion is: owned again, it would be deleted with all it installed.
 */
async function isKept(
  { resource, extension: { object, name }, signal }: PlaceRequest,
  client: Pick<KubeClient, 'get'>,
): Promise<boolean> {
  const { uid, deletionTimestamp } =
    (await unlessGone(client.get(resource, { name }, signal)))?.metadata ?? {};
  return uid === object.metadata.uid && deletionTimestamp === undefined;
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
