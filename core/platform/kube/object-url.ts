import type { KubernetesObject } from '../../../api/meta.ts';
import { TerminalError } from '../../errors.ts';
import type { ObjectKey, Resource } from './resource.ts';

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * Path of a resource's collection; of all namespaces without `namespace`.
 * @throws TerminalError for an invalid path segment, which would address something else.
 */
export function collectionPath(resource: Resource, namespace?: string): string {
  const { group, version, kind, plural, namespaced } = resource;
  const root = group === '' ? '/api' : `/apis/${segment(group, `API group of a ${kind}`)}`;
  const scope =
    namespaced && namespace !== undefined
      ? `/namespaces/${segment(namespace, `namespace of a ${kind}`)}`
      : '';
  const collection = segment(plural, `resource of a ${kind}`);
  return `${root}/${segment(version, `API version of a ${kind}`)}${scope}/${collection}`;
}

/**
 * Path of one object.
 * @throws TerminalError for an invalid name; an empty one would address the collection.
 */
export function objectPath(resource: Resource, key: ObjectKey, subresource?: 'status'): string {
  if (resource.namespaced && !key.namespace) {
    throw new TerminalError(`${resource.kind} "${key.name}" has no namespace`);
  }
  const name = segment(key.name, `name of a ${resource.kind}`);
  const suffix = subresource === undefined ? '' : `/${subresource}`;
  return `${collectionPath(resource, key.namespace)}/${name}${suffix}`;
}

/** `?a=1&b=2`, or nothing; omits undefined values. */
export function queryString(query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, String(value));
  }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

/** The API server's own rule for path segments. */
function segment(value: string, what: string): string {
  if (value === '' || value === '.' || value === '..' || /[/%]/.test(value)) {
    throw new TerminalError(`"${value}" cannot be the ${what}`);
  }
  return encodeURIComponent(value);
}

const metadata = (kind: string): string => `application/json;as=${kind};v=v1;g=meta.k8s.io`;

/** Header that requests objects with only their metadata. */
export const acceptMetadata = {
  list: metadata('PartialObjectMetadataList'),
  watch: metadata('PartialObjectMetadata'),
} as const;

/** Identity and version of an object, for callers that need nothing else. */
export function versionOnly({ apiVersion, kind, metadata }: KubernetesObject): KubernetesObject {
  const { name, namespace, uid, resourceVersion } = metadata;
  const kept = { name, namespace, uid, resourceVersion } as KubernetesObject['metadata'];
  return { apiVersion, kind, metadata: kept };
}
