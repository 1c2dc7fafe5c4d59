import { setTimeout as delay } from 'node:timers/promises';
import { gvkOf } from '../../api/gvk.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import { errorMessage } from '../../core/errors.ts';
import {
  connect,
  isNotFound,
  type KubeConnection,
  listAll,
  liveObject,
  type ObjectKey,
  type Resource,
} from '../../core/platform/kube/index.ts';
import { everyManifest } from '../../deploy/install-manifests.ts';
import { describe } from './install.ts';
import { definitionName, installedKinds, isOfOperators } from './installed-kinds.ts';
import { otherInstallation } from './other-installation.ts';
import { returnToRukpak } from './return-to-rukpak.ts';

interface UninstallOptions {
  readonly kubeconfig?: string;
  readonly systemNamespace: string;
  /** Also deletes the objects of all kinds of the system, what they have installed, and their CRDs. */
  readonly deleteWorkloads: boolean;
  /** Maximum milliseconds for a deletion. */
  readonly timeout: number;
  readonly dryRun: boolean;
  /** RukPak v0.16 will manage the BundleDeployments next. */
  readonly toRukpak?: boolean;
}

interface Uninstallation extends UninstallOptions {
  /** In the order in which their objects can be deleted. */
  readonly kinds: readonly Resource[];
  readonly kube: KubeConnection;
  readonly print: (line: string) => void;
}

const pollInterval = 250;

/**
 * Deletes the programs from a cluster, with their permissions and webhooks. Keeps the installed
 * objects, the CRDs and the namespaces, so that a later installation continues with them.
 * @throws Error before any deletion when the system is in another namespace, and when a deletion does
 * not finish in time; another run continues.
 */
export async function uninstall(
  options: UninstallOptions,
  print: (line: string) => void,
): Promise<void> {
  const { kubeconfig, systemNamespace, deleteWorkloads } = options;
  const kube = connect({
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    userAgent: 'rukpak-uninstall',
  });
  try {
    const kinds = await installedKinds(kube.client);
    const run = { ...options, kinds, kube, print };
    const manifests = everyManifest(systemNamespace);
    await checkPlace(manifests, run);
    // Core deletes the objects of its deployments, and removes their finalizers.
    if (deleteWorkloads) for (const resource of kinds) await deleteAll(resource, run);
    let ownDeployments = 0;
    for (const object of inOrder(manifests)) {
      const isFound = await deleteObject(object, run);
      if (isFound && isOwnDeployment(object, run)) ownDeployments += 1;
    }
    if (ownDeployments === 0) {
      print(
        `Warning: namespace "${systemNamespace}" has no Deployment of RukPak: if core runs in another namespace, name it with --system-namespace. Otherwise its processes keep running, without permissions and webhooks`,
      );
    }
    const names = new Set(kinds.map(definitionName));
    const definitions = manifests.filter(
      ({ kind, metadata }) => kind === 'CustomResourceDefinition' && names.has(metadata.name ?? ''),
    );
    if (options.toRukpak === true) await returnToRukpak({ client: kube.client, ...run });
    if (deleteWorkloads) await deleteDefinitions(definitions, run);
    else await tellKept(definitions, run);
    await tellKeptNamespaces(manifests, run);
  } finally {
    await kube.close();
  }
}

/** @throws Error when the system is in another namespace. */
async function checkPlace(
  manifests: readonly KubernetesObject[],
  { kube, systemNamespace }: Uninstallation,
): Promise<void> {
  const other = await otherInstallation(kube.client, manifests, systemNamespace);
  if (other !== undefined) throw new Error(`nothing is deleted: ${other.reason}`);
}

/**
 * The order of deletion: webhook configurations first, so that no request waits for a deleted
 * webhook; then Deployments, so that no process runs without permissions; then the rest.
 */
function inOrder(manifests: readonly KubernetesObject[]): readonly KubernetesObject[] {
  const stays = /^(?:CustomResourceDefinition|Namespace)$/;
  const first = [/WebhookConfiguration$/, /^Deployment$/];
  const rank = ({ kind }: KubernetesObject): number => {
    const index = first.findIndex((pattern) => pattern.test(kind));
    return index === -1 ? first.length : index;
  };
  return manifests
    .filter(({ kind }) => !stays.test(kind))
    .toSorted((one, other) => rank(one) - rank(other));
}

/** Others, such as that of crdvalidator, have the same namespace in every installation. */
function isOwnDeployment(
  { kind, metadata }: KubernetesObject,
  { systemNamespace }: Uninstallation,
): boolean {
  return kind === 'Deployment' && metadata.namespace === systemNamespace;
}

async function deleteAll(resource: Resource, run: Uninstallation): Promise<void> {
  const { kube, print, dryRun, timeout } = run;
  const found = await namesOf(resource, run);
  for (const name of found) {
    if (!dryRun) await unlessGone(kube.client.delete(resource, { name }));
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

/** Core is deleted already: its finalizers on objects created meanwhile would stay for ever. */
async function deleteDefinitions(
  definitions: readonly KubernetesObject[],
  run: Uninstallation,
): Promise<void> {
  for (const resource of run.kinds) {
    const [name] = run.dryRun ? [] : await namesOf(resource, run);
    if (name === undefined) continue;
    throw new Error(
      `${resource.kind} "${name}" was created meanwhile, so the CRDs are kept: install RukPak again, and stop what creates it`,
    );
  }
  for (const object of definitions) await deleteObject(object, run);
}

async function namesOf(resource: Resource, { kube }: Uninstallation): Promise<readonly string[]> {
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

/** False when there is no such object. */
async function deleteObject(object: KubernetesObject, run: Uninstallation): Promise<boolean> {
  const { kube, print, dryRun, timeout } = run;
  const target = await targetOf(object, run);
  if (target === undefined) return false;
  const live = (): Promise<KubernetesObject | undefined> =>
    liveObject(kube.client, target, AbortSignal.timeout(timeout));
  if ((await live()) === undefined) return false;
  try {
    if (!dryRun) {
      const propagationPolicy = 'Foreground';
      await unlessGone(kube.client.delete(target.resource, target.key, { propagationPolicy }));
      const isGone = await isSoon(async () => (await live()) === undefined, timeout);
      if (!isGone) throw new Error(`it still exists after ${timeout / 1000} s: see its finalizers`);
    }
  } catch (error) {
    const what = `cannot delete ${describe(object)}: ${errorMessage(error)}`;
    throw new Error(what, { cause: error });
  }
  print(`${describe(object)} ${deleted(run)}`);
  return true;
}

/** Undefined when the kind is not served, such as cert-manager's. */
async function targetOf(
  object: KubernetesObject,
  { kube }: Uninstallation,
): Promise<{ readonly resource: Resource; readonly key: ObjectKey } | undefined> {
  const resource = await kube.discovery.resourceFor(gvkOf(object));
  if (resource === undefined) return undefined;
  const { namespace, name = '' } = object.metadata;
  return { resource, key: { namespace, name } };
}

async function tellKept(
  definitions: readonly KubernetesObject[],
  run: Uninstallation,
): Promise<void> {
  for (const object of definitions) run.print(`${describe(object)} kept`);
  for (const resource of run.kinds) {
    const count = (await namesOf(resource, run)).length;
    if (count > 0) run.print(`${count} ${resource.kind}${count === 1 ? '' : 's'} kept`);
  }
  run.print(
    'Everything that BundleDeployments have installed is kept. The next installation of RukPak continues with it.',
  );
}

async function tellKeptNamespaces(
  manifests: readonly KubernetesObject[],
  run: Uninstallation,
): Promise<void> {
  const { kube, print, systemNamespace, timeout } = run;
  for (const object of manifests.filter(({ kind }) => kind === 'Namespace')) {
    // Some overlays lack the object.
    const target = await targetOf(object, run);
    const signal = AbortSignal.timeout(timeout);
    if (target === undefined || !(await liveObject(kube.client, target, signal))) continue;
    const holds =
      object.metadata.name === systemNamespace
        ? 'its Secrets, "rukpak-seed" and uploads among them'
        : 'its Secrets';
    print(`${describe(object)} kept, with ${holds}`);
  }
}

function deleted({ dryRun }: Uninstallation): string {
  return dryRun ? 'deleted (dry run)' : 'deleted';
}

async function unlessGone(deletion: Promise<void>): Promise<void> {
  try {
    await deletion;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
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
