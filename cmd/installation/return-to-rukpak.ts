import { fieldAt, listOf } from '../../api/json-fields.ts';
import type { KubernetesObject, ObjectMeta } from '../../api/meta.ts';
import { finalizer } from '../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource as resource } from '../../api/v1alpha1/resources.ts';
import { applySetKey } from '../../core/apply/index.ts';
import { errorMessage } from '../../core/errors.ts';
import {
  deploymentResource,
  isConflict,
  isForbidden,
  isNotFound,
  type KubeClient,
  listAll,
  liveObject,
  unlessNotFound,
} from '../../core/platform/kube/index.ts';
import { everyManifest } from '../../deploy/install-manifests.ts';

interface ReturnOptions {
  readonly client: Pick<KubeClient, 'get' | 'list' | 'patch'>;
  readonly dryRun: boolean;
  readonly print: (line: string) => void;
}

const attempts = 5;

/** The programs of RukPak v0.16's image; ours have arguments only. */
const formerCommand = /^\/(?:core|webhooks|crdvalidator)$/;

/** The sentence about a Deployment of RukPak itself, which has our names; undefined for none. */
export async function deploymentOfRukpak(
  client: Pick<KubeClient, 'get'>,
  systemNamespace: string,
): Promise<string | undefined> {
  for (const { kind, metadata } of everyManifest(systemNamespace)) {
    if (kind !== deploymentResource.kind) continue;
    const { namespace = '', name = '' } = metadata;
    const target = { resource: deploymentResource, key: { namespace, name } };
    const live = await liveObject(client, target);
    const command = live && formerCommandOf(live);
    if (command === undefined) continue;
    return `Deployment "${name}" of namespace "${namespace}" is RukPak v0.16's own (its command is ${command})`;
  }
  return undefined;
}

function formerCommandOf({ spec }: KubernetesObject): string | undefined {
  return listOf(fieldAt(spec, 'template', 'spec', 'containers'))
    .map((container) => listOf(fieldAt(container, 'command'))[0])
    .find((first): first is string => typeof first === 'string' && formerCommand.test(first));
}

/**
 * Asks the API server, by dry runs, whether it lets BundleDeployments be prepared.
 * @throws Error when permissions or an admission webhook forbid it
 */
export async function checkReturn({ client }: Pick<ReturnOptions, 'client'>): Promise<void> {
  for (const { name = '' } of await deployments(client)) {
    try {
      await release(client, name, { dryRun: true });
    } catch (error) {
      // Webhooks with side effects refuse dry runs alone.
      if (!isForbidden(error)) continue;
      const what = `nothing is deleted: cannot change bundledeployment.core.rukpak.io/${name}: ${errorMessage(error)}`;
      throw new Error(what, { cause: error });
    }
  }
}

/**
 * Prepares BundleDeployments for RukPak v0.16: removes core's finalizer, which RukPak would never
 * remove, and the label by which a later migration would take them for core's own. Without the
 * finalizer, one that is being deleted would vanish, and leave its objects without an owner.
 */
export async function returnToRukpak({ client, dryRun, print }: ReturnOptions): Promise<void> {
  for (const metadata of await deployments(client)) {
    const { name = '' } = metadata;
    const isReleased = dryRun ? !isDeleted(metadata) : await release(client, name);
    const what = isReleased
      ? `released${dryRun ? ' (dry run)' : ''}`
      : 'is being deleted, and only core deletes its objects: "rukpak install" continues with it';
    print(`bundledeployment.core.rukpak.io/${name} ${what}`);
  }
}

/** None where the CRD is deleted. */
async function deployments(client: ReturnOptions['client']): Promise<readonly ObjectMeta[]> {
  const options = { metadataOnly: true, transform: ({ metadata }: KubernetesObject) => metadata };
  return (await unlessNotFound(listAll(client, resource, options)))?.items ?? [];
}

function isDeleted({ deletionTimestamp }: ObjectMeta): boolean {
  return deletionTimestamp !== undefined;
}

/** False for one that is being deleted. */
async function release(
  client: ReturnOptions['client'],
  name: string,
  how: { readonly dryRun?: true } = {},
): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { metadata } = await client.get(resource, { name });
      if (isDeleted(metadata)) return false;
      const { uid, resourceVersion, finalizers = [] } = metadata;
      const left = finalizers.filter((each) => each !== finalizer.deleteObjects);
      const labels = { [applySetKey.id]: null };
      const patch = { metadata: { uid, resourceVersion, finalizers: left, labels } };
      await client.patch({ resource, key: { name } }, patch, { type: 'merge', ...how });
      return true;
    } catch (error) {
      if (isNotFound(error)) return true;
      if (!isConflict(error) || attempt === attempts) throw error;
    }
  }
}
