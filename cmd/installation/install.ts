import { setTimeout as delay } from 'node:timers/promises';
import { gvkOf } from '../../api/gvk.ts';
import type { Condition, KubernetesObject } from '../../api/meta.ts';
import { errorMessage } from '../../core/errors.ts';
import { toYaml } from '../../core/manifests/index.ts';
import {
  connect,
  type KubeClient,
  type KubeConnection,
  type Resource,
} from '../../core/platform/kube/index.ts';
import { installManifests } from '../../deploy/install-manifests.ts';
import { applyBinding, isBinding, readingOnce } from './bindings.ts';
import { narrowedObject } from './narrowed-objects.ts';
import { newerDefinition } from './newer-definition.ts';
import { otherInstallation } from './other-installation.ts';
import { othersObject } from './others-objects.ts';
import { deploymentOfRukpak } from './return-to-rukpak.ts';
import { lostWebhook } from './webhook-address.ts';

interface InstallOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly systemNamespace: string;
  /** URL at which the API server reaches webhooks outside the cluster. */
  readonly webhookUrl?: string;
  /** Makes the API server ask before it deletes CRDs of BundleDeployments. */
  readonly guardCrdDeletion: boolean;
  /** Also installs the kinds of OLM 1.0. */
  readonly operators?: boolean;
  /** Also grants what the process of these kinds needs for --install-dependencies. */
  readonly installDependencies?: boolean;
  readonly dryRun: boolean;
}

interface InstallOutput {
  readonly print: (line: string) => void;
  readonly warn: (line: string) => void;
}

const fieldManager = 'rukpak-install';

/**
 * Applies the system's objects: CRDs, namespaces, RBAC and the webhook configurations. Applying
 * again changes nothing. Bindings keep subjects that others added, with a warning.
 * @throws Error before any change when the system is in another namespace, of a newer version, has
 * webhooks elsewhere, or is restricted by an overlay in a way that the objects would undo; when
 * RukPak v0.16 is installed, or an object of another project's CRD would lose fields.
 */
export async function install(
  options: InstallOptions,
  { print, warn }: InstallOutput,
): Promise<void> {
  const { kubeconfig, context, dryRun } = options;
  const objects = installManifests(options);
  if (dryRun) {
    print(toYaml(objects));
    return;
  }
  const kube = connect({
    kubeconfig,
    context,
    userAgent: fieldManager,
  });
  try {
    print(`installing on ${kube.cluster}`);
    const known = readingOnce(kube.client);
    const list: KubeClient['list'] = async (...asked) => await kube.client.list(...asked);
    await checkPlace(known, objects, options.systemNamespace);
    const former = await deploymentOfRukpak(known, options.systemNamespace);
    if (former !== undefined) {
      throw new Error(
        `nothing is applied: ${former}: delete RukPak’s Deployments and Services first, as for a migration`,
      );
    }
    for (const find of [narrowedObject, newerDefinition, othersObject, lostWebhook]) {
      const obstacle = await find({ ...known, list }, objects);
      if (obstacle !== undefined) throw new Error(`nothing is applied: ${obstacle}`);
    }
    for (const object of objects) {
      await applyObject(object, { kube, known, warn });
      print(`${describe(object)} applied`);
    }
    const definitions = objects.filter(({ kind }) => kind === 'CustomResourceDefinition');
    for (const definition of definitions) {
      const resource = await resourceOf(kube, definition);
      await definitionEstablished(kube.client, resource, definition.metadata.name ?? '');
    }
  } finally {
    await kube.close();
  }
}

/** @throws Error when the system is in another namespace. */
async function checkPlace(
  client: Pick<KubeClient, 'get'>,
  objects: readonly KubernetesObject[],
  systemNamespace: string,
): Promise<void> {
  const other = await otherInstallation(client, objects, systemNamespace);
  if (other === undefined) return;
  throw new Error(
    `nothing is applied: ${other.reason}, or first run "rukpak uninstall --system-namespace ${other.namespace}", which keeps everything that is installed`,
  );
}

interface Installation extends Pick<InstallOutput, 'warn'> {
  readonly kube: KubeConnection;
  /** Answers with what the checks have read. */
  readonly known: Pick<KubeClient, 'get'>;
}

async function applyObject(object: KubernetesObject, run: Installation): Promise<void> {
  const { client } = run.kube;
  try {
    const resource = await resourceOf(run.kube, object);
    if (isBinding(object)) {
      await applyBinding({ resource, manifest: object }, { ...run, client, fieldManager });
    } else {
      await client.apply(resource, object, { fieldManager, force: true });
    }
  } catch (error) {
    throw new Error(`cannot apply ${describe(object)}: ${errorMessage(error)}`, { cause: error });
  }
}

/** @throws Error when the cluster does not serve the kind. */
async function resourceOf(kube: KubeConnection, object: KubernetesObject): Promise<Resource> {
  const resource = await kube.discovery.resourceFor(gvkOf(object));
  if (resource !== undefined) return resource;
  throw new Error(`the cluster does not serve ${object.apiVersion}, kind ${object.kind}`);
}

/** In kubectl's notation: `kind.group/name`. */
export function describe(object: KubernetesObject): string {
  const { group, kind } = gvkOf(object);
  const type = group === '' ? kind : `${kind}.${group}`;
  return `${type.toLowerCase()}/${object.metadata.name}`;
}

/** Milliseconds. Usually a moment; long for a busy API server. */
const establishTimeout = 180_000;
const pollInterval = 100;

/** Waits until the API server accepts objects of a CRD. @throws Error after three minutes. */
export async function definitionEstablished(
  client: Pick<KubeClient, 'get'>,
  resource: Resource,
  name: string,
): Promise<void> {
  const deadline = Date.now() + establishTimeout;
  for (;;) {
    const live = await client.get(resource, { name });
    // New CRDs have null conditions.
    const { conditions } = (live['status'] ?? {}) as { conditions?: readonly Condition[] | null };
    if (conditions?.some(({ type, status }) => type === 'Established' && status === 'True')) return;
    if (Date.now() > deadline) {
      throw new Error(
        `customresourcedefinition.apiextensions.k8s.io/${name} is not established after ${establishTimeout / 1000} s: see its conditions`,
      );
    }
    await delay(pollInterval);
  }
}
