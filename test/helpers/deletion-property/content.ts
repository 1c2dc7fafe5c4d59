import { gvkOf } from '../../../api/gvk.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleSource } from '../../../api/v1alpha1/bundle.ts';
import {
  configMapResource,
  definitionResource,
  secretResource,
} from '../../../core/platform/kube/index.ts';
import { plainFiles, pushContent } from '../push-content.ts';

/** How many BundleDeployments there are. */
export const deploymentCount = 10;
export const versions = [1, 2, 3] as const;
export type Version = (typeof versions)[number];

/** Namespaces of users, which no deployment creates or deletes. */
export const places = ['prop-a', 'prop-b'] as const;
/** Belongs to the content of one deployment. */
export const ownNamespace = 'prop-own';

/** The deployments with something of their own: a CRD that outlives them, one that does not, a Namespace. */
export const keepsDefinition = 0;
export const hasDefinition = 1;
export const hasNamespace = 2;
/** Both want one object, which one of them has. */
export const sharing = [3, 5] as const;

export type Adoption = 'Unowned' | 'Never' | undefined;

const adoptions: readonly Adoption[] = ['Unowned', undefined, 'Unowned', undefined, 'Never'];

export function adoptionOf(index: number): Adoption {
  return adoptions[index % adoptions.length];
}

export function nameOf(index: number): string {
  return `prop-${index}`;
}

/** Of a deployment's name. */
export function indexOf(name: string): number {
  return Number(name.slice(name.lastIndexOf('-') + 1));
}

/** `Kind/namespace/name`. */
export function idOf(object: KubernetesObject): string {
  const { namespace = '', name = '' } = object.metadata;
  return `${object.kind}/${namespace}/${name}`;
}

/** Kind of the custom resources that a deployment's CRD defines. */
export function customKind(index: number): string {
  return `Prop${index}`;
}

const group = 'property.example.com';

function object(
  kind: string,
  { namespace, name }: { readonly namespace?: string; readonly name: string },
  rest: object = {},
): KubernetesObject {
  const apiVersion = kind.startsWith('Prop') ? `${group}/v1` : 'v1';
  const metadata = namespace === undefined ? { name } : { namespace, name };
  return { apiVersion, kind, metadata, ...rest };
}

export function aMap(
  namespace: string,
  name: string,
  data: Readonly<Record<string, string>>,
): KubernetesObject {
  return object('ConfigMap', { namespace, name }, { data });
}

export function aCustom(index: number, name: string): KubernetesObject {
  return object(customKind(index), { namespace: places[0], name }, { spec: { size: 1 } });
}

function aDefinition(index: number): KubernetesObject {
  const kind = customKind(index);
  const plural = `${kind.toLowerCase()}s`;
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}

/** The objects of a deployment in one version. */
export function contentOf(index: number, version: Version): readonly KubernetesObject[] {
  const [a, b] = places;
  const name = nameOf(index);
  const own = [
    aMap(a, `${name}-always`, { version: String(version) }),
    aMap(b, `${name}-only-${version}`, {}),
    ...(version < 3 ? [aMap(b, `${name}-early`, { same: 'yes' })] : []),
    ...(version > 1
      ? [object('Secret', { namespace: a, name: `${name}-late` }, { data: { of: 'djI=' } })]
      : []),
  ];
  return version < 3 ? [...own, ...special(index, version)] : own;
}

function special(index: number, version: Version): readonly KubernetesObject[] {
  if (index === keepsDefinition || index === hasDefinition) {
    return [aDefinition(index), aCustom(index, `${nameOf(index)}-custom`)];
  }
  if (index === hasNamespace) {
    const namespace = object('Namespace', { name: ownNamespace });
    return [namespace, aMap(ownNamespace, 'inside', { version: String(version) })];
  }
  const isShared = sharing.some((each) => each === index);
  return isShared ? [aMap(places[0], 'prop-shared', { of: nameOf(index) })] : [];
}

const wantedIDs = new Map<string, ReadonlySet<string>>();

export function idsOf(index: number, version: Version): ReadonlySet<string> {
  const key = `${index}/${version}`;
  const ids = wantedIDs.get(key) ?? new Set(contentOf(index, version).map(idOf));
  wantedIDs.set(key, ids);
  return ids;
}

/** Sources of all versions of all deployments, pushed once: a step of a sequence costs no push. */
export async function pushPool(
  registry: string,
): Promise<(index: number, version: Version) => BundleSource> {
  const pool = new Map<string, BundleSource>();
  for (let index = 0; index < deploymentCount; index += 1) {
    for (const version of versions) {
      const files = plainFiles(contentOf(index, version));
      const name = `property-${index}`;
      pool.set(`${index}/${version}`, await pushContent({ registry, name, version, files }));
    }
  }
  return (index, version) => {
    const source = pool.get(`${index}/${version}`);
    if (source === undefined) throw new Error(`no content for ${nameOf(index)} v${version}`);
    return source;
  };
}

/** Kinds of all that may bear a mark. */
export const contentKinds = [
  configMapResource,
  secretResource,
  definitionResource,
  { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false },
  ...[keepsDefinition, hasDefinition].map((index) => {
    const kind = customKind(index);
    const plural = `${kind.toLowerCase()}s`;
    return { ...gvkOf(aCustom(index, '')), kind, plural, namespaced: true };
  }),
];
