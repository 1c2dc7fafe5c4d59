import { gvkOf } from '../../../api/gvk.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { label } from '../../../api/v1alpha1/labels.ts';
import {
  controllerOf,
  describeObject,
  fieldManager,
  inKindOrder,
  isDefinition,
  isDeployment,
  isNamespaceOrDefinition,
  labelledOwner,
  resolveKinds,
} from '../../../core/apply/index.ts';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import {
  isNotFound,
  keyOf,
  type ObjectKey,
  type Resource,
} from '../../../core/platform/kube/index.ts';
import { definitionEstablished } from '../../installation/install.ts';
import type { Cluster } from '../cluster.ts';

interface Release {
  /** Name of the BundleDeployment that will own the objects. */
  readonly name: string;
  readonly systemNamespace: string;
  readonly signal: AbortSignal;
}

/**
 * Applies objects as if the BundleDeployment of that name had applied them: in its order, and with
 * its field manager, so that it later removes the fields that the next version drops.
 * @throws TerminalError before the first change, when a kind is unknown or an object belongs to
 * others.
 */
export async function applyAsRelease(
  objects: readonly KubernetesObject[],
  release: Release,
  cluster: Cluster,
): Promise<void> {
  const { problems } = await resolveKinds(objects, cluster.discovery, release.signal);
  if (problems.length > 0) throw new TerminalError(problems.join('\n'));
  for (const object of objects) await refuseForeign(object, release, cluster);
  const foundation = objects.filter((object) => isNamespaceOrDefinition(gvkOf(object)));
  await applyInOrder(foundation, release, cluster);
  for (const object of foundation.filter((each) => isDefinition(gvkOf(each)))) {
    const resource = await resourceOf(object, cluster);
    await definitionEstablished(cluster.client, resource, object.metadata.name ?? '');
  }
  cluster.discovery.invalidate();
  const rest = objects.filter((object) => !foundation.includes(object));
  await applyInOrder(rest, release, cluster);
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
    items.push({ object, resource: await resourceOf(object, cluster) });
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

/** Bootstrapping may take objects without an owner, and no others. */
async function refuseForeign(
  object: KubernetesObject,
  release: Release,
  { client, discovery }: Cluster,
): Promise<void> {
  const resource = await discovery.resourceFor(gvkOf(object), release.signal);
  // A kind of the manifests' own CRDs has no objects yet.
  if (resource === undefined) return;
  const key = placed(object, resource, release);
  try {
    const owner = foreignOwner(await client.get(resource, key, release.signal), release.name);
    if (owner === undefined) return;
    throw new TerminalError(
      `${describeObject(object.kind, key)} exists and belongs to ${owner}: leave it out, or delete it first`,
    );
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

function foreignOwner(live: KubernetesObject, name: string): string | undefined {
  const controller = controllerOf(live);
  if (controller !== undefined) {
    return isDeployment(controller, name) ? undefined : `${controller.kind} "${controller.name}"`;
  }
  const owner = labelledOwner(live);
  return owner === undefined || owner === name ? undefined : `BundleDeployment "${owner}"`;
}

function placed(object: KubernetesObject, resource: Resource, release: Release): ObjectKey {
  const { namespace, name } = keyOf(object);
  return resource.namespaced ? { namespace: namespace || release.systemNamespace, name } : { name };
}

async function resourceOf(object: KubernetesObject, { discovery }: Cluster): Promise<Resource> {
  const resource = await discovery.resourceFor(gvkOf(object));
  if (resource !== undefined) return resource;
  throw new TerminalError(`no matches for kind "${object.kind}" in version "${object.apiVersion}"`);
}
