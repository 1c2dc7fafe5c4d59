import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentCondition } from '../../../api/v1alpha1/conditions.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import {
  applySetKey,
  deploymentApplySetID,
  type ReleaseSecret,
  releaseSecrets,
} from '../../../core/apply/index.ts';
import { TerminalError } from '../../../core/errors.ts';
import {
  isConflict,
  isNotFound,
  type KubeClient,
  secretResource,
} from '../../../core/platform/kube/index.ts';
import { findCondition } from '../../../core/platform/runtime/index.ts';

interface ReleaseRemoval {
  /** Deployments whose Secrets are deleted (default: all). */
  readonly names?: readonly string[];
  readonly dryRun: boolean;
  readonly namespace: string;
  readonly signal: AbortSignal;
  onDeleted(secret: string): Promise<void>;
  onKept(deployment: string, because: string): Promise<void>;
}

interface RemovedReleases {
  readonly deleted: readonly string[];
  /** Deployments that still need their Secrets. */
  readonly skipped: readonly string[];
}

/**
 * Deletes the release Secrets of deployments that core has installed: until then they list the
 * kinds of RukPak's objects.
 * @throws TerminalError, before any deletion, when a named deployment still needs its Secrets.
 */
export async function removeReleases(
  client: KubeClient,
  removal: ReleaseRemoval,
): Promise<RemovedReleases> {
  const { names, namespace, signal } = removal;
  const secrets = await releaseSecrets(client, { namespace, signal });
  const deployments = names ?? [...new Set(secrets.map(({ deployment }) => deployment))].sort();
  const needed = new Map<string, string>();
  for (const name of deployments) {
    const because = needOf(await deploymentOf(client, name, signal));
    if (because === undefined) continue;
    if (names !== undefined) {
      throw new TerminalError(`BundleDeployment "${name}" ${because}: nothing was deleted`);
    }
    needed.set(name, because);
    await removal.onKept(name, because);
  }
  const free = deployments.filter((name) => !needed.has(name));
  const unneeded = free.flatMap((name) => secrets.filter(({ deployment }) => deployment === name));
  for (const secret of unneeded) {
    if (!removal.dryRun) await deleteSecret(client, secret, removal);
    await removal.onDeleted(secret.name);
  }
  return { deleted: unneeded.map(({ name }) => name), skipped: [...needed.keys()] };
}

async function deploymentOf(
  client: KubeClient,
  name: string,
  signal: AbortSignal,
): Promise<BundleDeployment | undefined> {
  try {
    return (await client.get(bundleDeploymentResource, { name }, signal)) as BundleDeployment;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Why a deployment still needs its release Secrets, as the second half of a sentence. */
function needOf(deployment: BundleDeployment | undefined): string | undefined {
  if (deployment === undefined) return 'does not exist';
  const { metadata, status } = deployment;
  if (metadata.labels?.[applySetKey.id] !== deploymentApplySetID(metadata.name ?? '')) {
    return 'has not been taken over from RukPak, and still needs its release Secrets';
  }
  const { installed: type } = bundleDeploymentCondition;
  const installed = findCondition(status?.conditions, type)?.status === 'True';
  return installed && status?.observedGeneration === metadata.generation
    ? undefined
    : 'is not installed, and may still need its release Secrets';
}

async function deleteSecret(
  client: KubeClient,
  { name, uid }: ReleaseSecret,
  { namespace, signal }: ReleaseRemoval,
): Promise<void> {
  try {
    await client.delete(secretResource, { namespace, name }, { uid, signal });
  } catch (error) {
    // It was deleted already, or replaced by another one of its name.
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}
