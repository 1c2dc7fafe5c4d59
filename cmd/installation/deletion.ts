import { setTimeout as delay } from 'node:timers/promises';
import { gvkOf } from '../../api/gvk.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import { errorMessage } from '../../core/errors.ts';
import {
  hasCode,
  isNotFound,
  type KubeConnection,
  listAll,
  liveObject,
  type ObjectKey,
  type Resource,
  unlessNotFound,
} from '../../core/platform/kube/index.ts';
import { describe } from './install.ts';
import { isOfOperators } from './installed-kinds.ts';

/** How to delete. */
export interface Deletion {
  readonly kube: Pick<KubeConnection, 'client' | 'discovery'>;
  /** Maximum milliseconds for a deletion. */
  readonly timeout: number;
  readonly dryRun: boolean;
  readonly print: (line: string) => void;
}

const pollInterval = 250;

/**
 * Deletes all objects of a kind, and waits until they are gone.
 * @throws Error for objects that exist after the timeout
 */
export async function deleteAll(resource: Resource, run: Deletion): Promise<void> {
  const { kube, print, dryRun, timeout } = run;
  const found = await namesOf(resource, run);
  for (const name of found) {
    if (!dryRun) await unlessNotFound(kube.client.delete(resource, { name }));
    print(`${resource.kind.toLowerCase()}.${resource.group}/${name} ${deleted(run)}`);
  }
  if (dryRun) return;
  let left = found;
  const areGone = async (): Promise<boolean> => {
    left = await namesOf(resource, run);
    return left.length === 0;
  };
  if (await isSoon(areGone, timeout)) return;
  const { kind, plural } = resource;
  const deleter = isOfOperators(resource) ? '"rukpak operators"' : 'core';
  const more = left.length > 1 ? ` and ${left.length - 1} more exist` : ' exists';
  throw new Error(
    `${kind} "${left[0]}"${more} after ${timeout / 1000} s, and nothing else is deleted: ${deleter} must run to delete it, and "kubectl describe ${plural}" says what it waits for`,
  );
}

/** Names of all objects of a kind; none where the cluster does not serve it. */
export async function namesOf(
  resource: Resource,
  { kube }: Pick<Deletion, 'kube'>,
): Promise<readonly string[]> {
  try {
    const options = { metadataOnly: true, transform: nameOf };
    return (await listAll(kube.client, resource, options)).items;
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

function nameOf({ metadata }: KubernetesObject): string {
  return metadata.name ?? '';
}

const createdAgain =
  'another client has created it again: stop that, such as a GitOps controller, and run the command again';

/**
 * Deletes an object, and waits until it is gone. Returns what it was; undefined for no such object.
 * @throws Error when it exists after the timeout, or another client has created it again
 */
export async function deleteObject(
  object: KubernetesObject,
  run: Deletion,
): Promise<KubernetesObject | undefined> {
  const { kube, print, dryRun, timeout } = run;
  const target = await targetOf(object, run);
  if (target === undefined) return undefined;
  const live = (): Promise<KubernetesObject | undefined> =>
    liveObject(kube.client, target, AbortSignal.timeout(timeout));
  const found = await live();
  if (found === undefined) return undefined;
  try {
    if (!dryRun) {
      const propagationPolicy = 'Foreground';
      await unlessNotFound(kube.client.delete(target.resource, target.key, { propagationPolicy }));
      let left: KubernetesObject | undefined = found;
      const isGone = await isSoon(async () => {
        left = await live();
        return left?.metadata.uid !== found.metadata.uid;
      }, timeout);
      if (!isGone) throw new Error(`it still exists after ${timeout / 1000} s: see its finalizers`);
      if (left !== undefined) throw new Error(createdAgain);
    }
  } catch (error) {
    const what = `cannot delete ${describe(object)}: ${errorMessage(error)}`;
    throw new Error(what, { cause: error });
  }
  print(`${describe(object)} ${deleted(run)}`);
  return found;
}

/**
 * Asks the API server, by a dry run, whether it deletes an object.
 * @throws Error when it does not, such as for want of a permission, or of an admission webhook
 */
export async function checkDeletion(object: KubernetesObject, run: Deletion): Promise<void> {
  const { kube, timeout } = run;
  const target = await targetOf(object, run);
  if (target === undefined) return;
  const signal = AbortSignal.timeout(timeout);
  if ((await liveObject(kube.client, target, signal)) === undefined) return;
  try {
    await kube.client.delete(target.resource, target.key, { dryRun: true, signal });
  } catch (error) {
    // Webhooks with side effects refuse dry runs alone, as bad requests.
    if (hasCode(error, 400, 404)) return;
    const what = `nothing is deleted: cannot delete ${describe(object)}: ${errorMessage(error)}`;
    throw new Error(what, { cause: error });
  }
}

/** Undefined when the kind is not served, such as cert-manager's. */
export async function targetOf(
  object: KubernetesObject,
  { kube }: Pick<Deletion, 'kube'>,
): Promise<{ readonly resource: Resource; readonly key: ObjectKey } | undefined> {
  const resource = await kube.discovery.resourceFor(gvkOf(object));
  if (resource === undefined) return undefined;
  const { namespace, name = '' } = object.metadata;
  return { resource, key: { namespace, name } };
}

function deleted({ dryRun }: Deletion): string {
  return dryRun ? 'deleted (dry run)' : 'deleted';
}

/** Whether it becomes true within the timeout, in milliseconds. */
async function isSoon(isTrue: () => Promise<boolean>, timeout: number): Promise<boolean> {
  const deadline = Date.now() + timeout;
  while (!(await isTrue())) {
    if (Date.now() > deadline) return false;
    await delay(pollInterval);
  }
  return true;
}
