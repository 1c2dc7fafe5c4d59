import type { KubernetesObject } from '../../../api/meta.ts';
import type { Bundle } from '../../../api/v1alpha1/index.ts';
import { label } from '../../../api/v1alpha1/labels.ts';
import { bundleResource } from '../../../api/v1alpha1/resources.ts';
import { trackedUID } from '../../../core/apply/objects/owner-marks.ts';
import { type KubeClient, listAll, type Resource } from '../../../core/platform/kube/index.ts';
import { installedSelector } from './apps.ts';
import { appResources } from './kinds.ts';

interface Installation {
  readonly kube: { readonly client: KubeClient };
  readonly apps: readonly string[];
}

/**
 * Throws where the cluster does not hold exactly what a version of all apps is: an object of each
 * kind and one unpacked Bundle, nothing twice, nothing of another version.
 */
export async function expectInstalled(
  { kube: { client }, apps }: Installation,
  version: number,
): Promise<void> {
  const wrong: string[] = [];
  for (const resource of appResources) {
    const objects = await installedObjects(client, resource);
    wrong.push(...differences(resource.kind, objects.map(nameOf), apps));
    wrong.push(...objects.filter((object) => !isOwned(object)).map(isNot(`installed for its app`)));
    wrong.push(
      ...objects.filter((object) => !isOf(object, version)).map(isNot(`of version ${version}`)),
    );
  }
  const bundles = (await listEvery(client, bundleResource)) as readonly Bundle[];
  const owners = bundles.map(({ metadata }) => metadata.labels?.[label.ownerName] ?? '');
  wrong.push(...differences('Bundle of', owners, apps));
  wrong.push(...bundles.filter((bundle) => !isUnpacked(bundle, version)).map(isNot('unpacked')));
  if (wrong.length === 0) return;
  throw new Error(`${wrong.length} differences, such as: ${wrong.slice(0, 10).join('; ')}`);
}

export async function installedObjects(
  client: KubeClient,
  resource: Resource,
): Promise<readonly KubernetesObject[]> {
  return await listEvery(client, resource, installedSelector);
}

async function listEvery(
  client: KubeClient,
  resource: Resource,
  labelSelector?: string,
): Promise<readonly KubernetesObject[]> {
  const transform = (object: KubernetesObject) => object;
  return (await listAll(client, resource, { labelSelector, transform })).items;
}

function nameOf({ metadata }: KubernetesObject): string {
  return metadata.name ?? '';
}

function isNot(expected: string) {
  return (object: KubernetesObject) => `${object.kind} ${nameOf(object)} is not ${expected}`;
}

function differences(
  what: string,
  found: readonly string[],
  wanted: readonly string[],
): readonly string[] {
  const there = new Set(found);
  const expected = new Set(wanted);
  const missing = wanted.filter((name) => !there.has(name));
  const left = found.filter((name, index) => !expected.has(name) || found.indexOf(name) !== index);
  return [
    ...missing.map((name) => `${what} ${name} is missing`),
    ...left.map((name) => `${what} ${name} is one too many`),
  ];
}

function isOwned(object: KubernetesObject): boolean {
  const { name, labels } = object.metadata;
  return labels?.[label.ownerName] === name && trackedUID(object) !== undefined;
}

/** Two of the four kinds differ between versions. */
function isOf(object: KubernetesObject, version: number): boolean {
  const { kind, data, spec } = object as KubernetesObject & {
    readonly data?: { readonly version?: string };
    readonly spec?: unknown;
  };
  if (kind === 'ConfigMap') return data?.version === `${version}`;
  if (kind === 'Deployment') return versionOfDeployment(spec) === `${version}`;
  return true;
}

function versionOfDeployment(spec: unknown): string | undefined {
  const { template } = spec as {
    readonly template: {
      readonly spec: {
        readonly containers: readonly { readonly env?: readonly { readonly value?: string }[] }[];
      };
    };
  };
  return template.spec.containers[0]?.env?.[0]?.value;
}

function isUnpacked({ metadata, spec, status }: Bundle, version: number): boolean {
  if (metadata.deletionTimestamp !== undefined || status?.phase !== 'Unpacked') return false;
  return spec.source.image?.ref.endsWith(`:v${version}`) === true;
}
