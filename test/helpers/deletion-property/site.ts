import type { KubernetesObject } from '../../../api/meta.ts';
import { bundleDeploymentResource, bundleResource } from '../../../api/v1alpha1/resources.ts';
import { isNotFound, type KubeClient, type Resource } from '../../../core/platform/kube/index.ts';
import { contentKinds, idOf } from './content.ts';

/** The objects in the cluster, by `Kind/namespace/name`; undefined for a missing one. */
export class Site {
  readonly client: KubeClient;

  constructor(client: KubeClient) {
    this.client = client;
  }

  /** Objects of all kinds in these bundles, also foreign ones. */
  async content(): Promise<ReadonlyMap<string, KubernetesObject>> {
    const lists = await Promise.all(contentKinds.map((resource) => this.list(resource)));
    return new Map(lists.flat().map((object) => [idOf(object), object]));
  }

  async deployments(): Promise<readonly KubernetesObject[]> {
    return await this.list(bundleDeploymentResource);
  }

  async bundles(): Promise<readonly KubernetesObject[]> {
    return await this.list(bundleResource);
  }

  async get(id: string): Promise<KubernetesObject | undefined> {
    try {
      return named(await this.client.get(resourceOf(id), keyOf(id)), resourceOf(id));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async deployment(name: string): Promise<KubernetesObject | undefined> {
    return (await this.deployments()).find(({ metadata }) => metadata.name === name);
  }

  /** As it is stored: with the UID that the server gave it. */
  async create(object: KubernetesObject): Promise<KubernetesObject> {
    const resource = resourceOf(idOf(object));
    return named(await this.client.create(resource, object), resource);
  }

  async merge(id: string, patch: object): Promise<KubernetesObject> {
    const target = { resource: resourceOf(id), key: keyOf(id) };
    return named(await this.client.patch(target, patch, { type: 'merge' }), target.resource);
  }

  async delete(id: string): Promise<void> {
    await this.client.delete(resourceOf(id), keyOf(id));
  }

  private async list(resource: Resource): Promise<readonly KubernetesObject[]> {
    try {
      const { items } = await this.client.list(resource);
      return items.map((item) => named(item, resource));
    } catch (error) {
      // Its CRD is not there.
      if (isNotFound(error)) return [];
      throw error;
    }
  }
}

/** Items of a list come without their kind. */
function named(object: KubernetesObject, { group, version, kind }: Resource): KubernetesObject {
  return { ...object, apiVersion: group === '' ? version : `${group}/${version}`, kind };
}

function resourceOf(id: string): Resource {
  const kind = id.slice(0, id.indexOf('/'));
  const found = contentKinds.find((resource) => resource.kind === kind);
  if (found === undefined) throw new Error(`no resource for ${id}`);
  return found;
}

function keyOf(id: string): { readonly namespace?: string; readonly name: string } {
  const [, namespace = '', name = ''] = id.split('/');
  return namespace === '' ? { name } : { namespace, name };
}
