import type { KubernetesObject } from '../../api/meta.ts';
import { isMap, mapOf } from './json-fields.ts';

/**
 * Says what keeps an object from being sent at all: the API server cannot be asked about a name
 * that is no path segment. Everything else is the API server's to judge. Undefined where all is well.
 */
export function contentProblem(object: KubernetesObject): string | undefined {
  const { name, namespace, labels, annotations } = mapOf(object.metadata);
  const what = `${object.kind} "${typeof name === 'string' ? name : ''}"`;
  if (typeof name !== 'string' || name === '') {
    return `${what}: metadata.name must be set (metadata.generateName is not supported)`;
  }
  const nameProblem = segmentProblem(name);
  if (nameProblem !== undefined) return `${what}: metadata.name ${nameProblem}`;
  const namespaceError = namespaceProblem(namespace);
  if (namespaceError !== undefined) return `${what}: metadata.namespace ${namespaceError}`;
  if (!isMapOrAbsent(labels)) return `${what}: metadata.labels must be a map`;
  if (!isMapOrAbsent(annotations)) return `${what}: metadata.annotations must be a map`;
  return undefined;
}

function namespaceProblem(namespace: unknown): string | undefined {
  if (namespace === undefined || namespace === null) return undefined;
  return typeof namespace === 'string' ? segmentProblem(namespace) : 'must be a string';
}

function segmentProblem(segment: string): string | undefined {
  if (segment === '.' || segment === '..') return `may not be "${segment}"`;
  return /[/%]/.test(segment) ? 'may not contain "/" or "%"' : undefined;
}

function isMapOrAbsent(value: unknown): boolean {
  return value === undefined || value === null || isMap(value);
}
