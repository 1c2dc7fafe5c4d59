import type { KubernetesObject } from '../../api/meta.ts';
import {
  connect,
  definitionResource,
  type KubeConnection,
  liveObject,
  type Resource,
} from '../../core/platform/kube/index.ts';
import { everyManifest } from '../../deploy/install-manifests.ts';
import { isBinding, othersIn } from './bindings.ts';
import {
  checkDeletion,
  type Deletion,
  deleteAll,
  deleteObject,
  namesOf,
  targetOf,
} from './deletion.ts';
import { describe } from './install.ts';
import { definitionName, installedKinds } from './installed-kinds.ts';
import { otherInstallation } from './other-installation.ts';
import { checkReturn, deploymentOfRukpak, returnToRukpak } from './return-to-rukpak.ts';

interface UninstallOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly systemNamespace: string;
  /** Also deletes the objects of all kinds of the system, what they have installed, and their CRDs. */
  readonly deleteWorkloads: boolean;
  /** Maximum milliseconds for a deletion. */
  readonly timeout: number;
  readonly dryRun: boolean;
  /** Asked before workloads are deleted (default: nobody is asked). */
  readonly confirm?: ((question: string) => Promise<boolean>) | undefined;
  /** RukPak v0.16 will manage the BundleDeployments next. */
  readonly toRukpak?: boolean;
}

interface Uninstallation extends UninstallOptions, Omit<Deletion, 'kube'> {
  readonly kube: KubeConnection;
  /** In the order in which their objects can be deleted. */
  readonly kinds: readonly Resource[];
}

/**
 * Deletes the programs from a cluster, with their permissions and webhooks. Keeps the installed
 * objects, the CRDs and the namespaces, so that a later installation continues with them.
 * @throws Error before any deletion when the system is in another namespace or the API server forbids
 * one of the deletions, and when a deletion does not finish in time; another run continues.
 */
export async function uninstall(
  options: UninstallOptions,
  print: (line: string) => void,
): Promise<void> {
  const { kubeconfig, context, systemNamespace, deleteWorkloads } = options;
  const kube = connect({
    kubeconfig,
    context,
    userAgent: 'rukpak-uninstall',
  });
  try {
    print(`uninstalling from ${kube.cluster}`);
    const kinds = await installedKinds(kube.client);
    const run = { ...options, kinds, kube, print };
    const manifests = everyManifest(systemNamespace);
    await checkPlace(manifests, run);
    const former = await deploymentOfRukpak(kube.client, systemNamespace);
    if (former !== undefined) {
      await leaveToRukpak(former, run);
      return;
    }
    if (options.toRukpak === true) await checkReturn(kube);
    // Half an uninstallation has no webhooks, and core goes on.
    for (const object of inOrder(manifests)) await checkDeletion(object, run);
    // Core deletes the objects of its deployments, and removes their finalizers.
    if (deleteWorkloads) await deleteAllWorkloads(run);
    await deletePrograms(manifests, run);
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

/** @throws Error before any deletion without a yes. */
async function deleteAllWorkloads(run: Uninstallation): Promise<void> {
  const { kinds, kube, confirm, dryRun } = run;
  const found: string[] = [];
  for (const resource of confirm === undefined || dryRun ? [] : kinds) {
    const count = (await namesOf(resource, run)).length;
    if (count > 0) found.push(countOf(resource, count));
  }
  if (found.length > 0) {
    const question = `Delete ${found.join(', ')} and everything that they have installed from ${kube.cluster}?`;
    if ((await confirm?.(question)) === false) throw new Error('nothing is deleted');
  }
  for (const resource of kinds) await deleteAll(resource, run);
}

function countOf({ kind }: Resource, count: number): string {
  return `${count} ${kind}${count === 1 ? '' : 's'}`;
}

/** Deletes all but CRDs and namespaces, and warns of what the user may not expect. */
async function deletePrograms(
  manifests: readonly KubernetesObject[],
  run: Uninstallation,
): Promise<void> {
  const { print, systemNamespace } = run;
  let ownDeployments = 0;
  for (const object of inOrder(manifests)) {
    const found = await deleteObject(object, run);
    if (found !== undefined && isOwnDeployment(object, run)) ownDeployments += 1;
    const others = isBinding(object) ? othersIn(found, object) : undefined;
    if (others !== undefined) {
      print(`Warning: ${others}: bind them again after the next installation`);
    }
  }
  if (ownDeployments === 0) {
    print(
      `Warning: namespace "${systemNamespace}" has no Deployment of RukPak: if core runs in another namespace, name it with --system-namespace. Otherwise its processes keep running, without permissions and webhooks`,
    );
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

/** @throws Error unless RukPak only waits for its BundleDeployments. */
async function leaveToRukpak(former: string, run: Uninstallation): Promise<void> {
  if (run.toRukpak !== true) {
    throw new Error(
      `nothing is deleted: ${former}: delete RukPak with the manifests that it was installed with`,
    );
  }
  run.print(`nothing is deleted: ${former}`);
  await returnToRukpak({ client: run.kube.client, ...run });
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

async function tellKept(
  definitions: readonly KubernetesObject[],
  run: Uninstallation,
): Promise<void> {
  for (const object of definitions) {
    const key = { name: object.metadata.name ?? '' };
    const live = await liveObject(run.kube.client, { resource: definitionResource, key });
    if (live !== undefined) run.print(`${describe(object)} kept`);
  }
  for (const resource of run.kinds) {
    const count = (await namesOf(resource, run)).length;
    if (count > 0) run.print(`${countOf(resource, count)} kept`);
  }
  run.print(
    'Everything that BundleDeployments have installed is kept. The next installation of RukPak continues with it.',
  );
}

async function tellKeptNamespaces(
  manifests: readonly KubernetesObject[],
  run: Uninstallation,
): Promise<void> {
  const { kube, print, systemNamespace, timeout, deleteWorkloads } = run;
  // Kubernetes deletes uploads with their Bundles.
  const ofSystem = deleteWorkloads
    ? '"rukpak-seed" among them'
    : '"rukpak-seed" and uploads among them';
  for (const object of manifests.filter(({ kind }) => kind === 'Namespace')) {
    // Some overlays lack the object.
    const target = await targetOf(object, run);
    const signal = AbortSignal.timeout(timeout);
    if (target === undefined || !(await liveObject(kube.client, target, signal))) continue;
    const named = object.metadata.name === systemNamespace ? `, ${ofSystem}` : '';
    print(`${describe(object)} kept, with its Secrets${named}`);
  }
}
