import { gvkOf } from '../../../api/gvk.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { label } from '../../../api/v1alpha1/labels.ts';
import { generatedFor } from '../../../api/v1alpha1/rules/generated-bundle.ts';
import {
  controllerOf,
  describeObject,
  fieldManager,
  helmRelease,
  inKindOrder,
  isDefinition,
  isDeployment,
  isNamespace,
  isNamespaceOrDefinition,
  labelledOwner,
  resolveKinds,
} from '../../../core/apply/index.ts';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import { systemClock } from '../../../core/platform/clock.ts';
import {
  awaitResource,
  keyOf,
  liveObject,
  type ObjectKey,
  type Resource,
} from '../../../core/platform/kube/index.ts';
import { definitionEstablished } from '../../installation/install.ts';
import type { Cluster } from '../cluster.ts';

/** Milliseconds in which the API server lists a kind after its CRD is established. */
const servingTimeout = 60_000;

interface Release {
  /** Name of the BundleDeployment that will own the objects. */
  readonly name: string;
  readonly systemNamespace: string;
  /** Namespace of objects that name none. */
  readonly installNamespace: string;
  readonly signal: AbortSignal;
}

/**
 * Applies objects as if the BundleDeployment of that name had applied them: in its order, and with
 * its field manager, so that it later removes the fields that the next version drops. Leaves other
 * namespaces that exist as they are, as core does: with the marks, core would delete them one day.
 * @returns the names of these namespaces
 * @throws TerminalError before the first change, when a kind is unknown or an object belongs to
 * others.
 */
export async function applyAsRelease(
  objects: readonly KubernetesObject[],
  release: Release,
  cluster: Cluster,
): Promise<readonly string[]> {
  const { problems } = await resolveKinds(objects, cluster.discovery, release.signal);
  if (problems.length > 0) throw new TerminalError(problems.join('\n'));
  const used = new Set<KubernetesObject>();
  for (const object of objects) {
    const live = await liveOf(object, release, cluster);
    const holder = live === undefined ? 'nobody' : holderOf(live, release);
    if (live === undefined || holder === 'this release') continue;
    if (isNamespace(gvkOf(object))) used.add(object);
    else if (holder !== 'nobody') {
      const what = describeObject(object.kind, keyOf(live));
      throw new TerminalError(
        `${what} exists and belongs to ${holder.name}: leave it out, or delete it first`,
      );
    }
  }
  const own = objects.filter((object) => !used.has(object));
  const foundation = own.filter((object) => isNamespaceOrDefinition(gvkOf(object)));
  await applyInOrder(foundation, release, cluster);
  for (const object of foundation.filter((each) => isDefinition(gvkOf(each)))) {
    const resource = await resourceOf(object, release, cluster);
    await definitionEstablished(cluster.client, resource, object.metadata.name ?? '');
  }
  cluster.discovery.invalidate();
  const rest = own.filter((object) => !foundation.includes(object));
  await applyInOrder(rest, release, cluster);
  return [...used].map(({ metadata }) => metadata.name ?? '');
}

/** Adds the marks of Helm and of the owner. */
function marked(object: KubernetesObject, key: ObjectKey, release: Release): KubernetesObject {
  const { name, systemNamespace } = release;
  const { status: _, ...content } = object;
  return {
    ...content,
    metadata: {
      ...object.metadata,
      ...(key.namespace === undefined ? {} : { namespace: key.namespace }),
      labels: {
        ...object.metadata.labels,
        'app.kubernetes.io/managed-by': 'Helm',
        [label.ownerKind]: 'BundleDeployment',
        [label.ownerName]: name,
      },
      annotations: {
        ...object.metadata.annotations,
        'meta.helm.sh/release-name': name,
        'meta.helm.sh/release-namespace': systemNamespace,
      },
    },
  };
}

async function applyInOrder(
  objects: readonly KubernetesObject[],
  release: Release,
  cluster: Cluster,
): Promise<void> {
  const items: { object: KubernetesObject; resource: Resource }[] = [];
  for (const object of objects) {
    items.push({ object, resource: await resourceOf(object, release, cluster) });
  }
  const options = { fieldManager, force: true, signal: release.signal };
  for (const { object, resource } of inKindOrder(items).flat()) {
    const key = placed(object, resource, release);
    try {
      await cluster.client.apply(resource, marked(object, key, release), options);
    } catch (error) {
      const what = describeObject(object.kind, key);
      throw new TerminalError(`cannot apply ${what}: ${errorMessage(error)}`, { cause: error });
    }
  }
}

async function liveOf(
  object: KubernetesObject,
  release: Release,
  { client, discovery }: Cluster,
): Promise<KubernetesObject | undefined> {
  const resource = await discovery.resourceFor(gvkOf(object), release.signal);
  // A kind of the manifests' own CRDs has no objects yet.
  if (resource === undefined) return undefined;
  const key = placed(object, resource, release);
  return await liveObject(client, { resource, key }, release.signal);
}

type Holder = 'nobody' | 'this release' | { readonly name: string };

/** Bootstrapping takes objects without an owner, and those that it has applied before. */
function holderOf(live: KubernetesObject, { name, systemNamespace }: Release): Holder {
  const generated = generatedFor(live);
  if (generated !== undefined) return { name: `BundleDeployment "${generated}"` };
  const controller = controllerOf(live);
  if (controller !== undefined) {
    if (isDeployment(controller, name)) return 'this release';
    return { name: `${controller.kind} "${controller.name}"` };
  }
  const owner = labelledOwner(live);
  if (owner !== undefined) {
    return owner === name ? 'this release' : { name: `BundleDeployment "${owner}"` };
  }
  const helm = helmRelease(live);
  if (helm === undefined) return 'nobody';
  const isSame = helm.name === name && helm.namespace === systemNamespace;
  return isSame
    ? 'this release'
    : { name: `Helm release "${helm.name}" in namespace "${helm.namespace}"` };
}

function placed(object: KubernetesObject, resource: Resource, release: Release): ObjectKey {
  const { namespace, name } = keyOf(object);
  return resource.namespaced
    ? { namespace: namespace || release.installNamespace, name }
    : { name };
}

async function resourceOf(
  object: KubernetesObject,
  { signal }: Release,
  { discovery }: Cluster,
): Promise<Resource> {
  const waiting = { patience: servingTimeout, clock: systemClock, signal };
  const resource = await awaitResource(discovery, gvkOf(object), waiting);
  if (resource !== undefined) return resource;
  throw new TerminalError(`no matches for kind "${object.kind}" in version "${object.apiVersion}"`);
}
