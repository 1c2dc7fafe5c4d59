import { gvkOf } from '../../../api/gvk.ts';
import { isMap, mapOf } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { hookProblem } from '../hooks/hook.ts';
import { stageProblem } from '../stages/stage-order.ts';

/** Longer than any name that the API server accepts, and shorter than the limit of a URL. */
const maxNameLength = 1024;
const shownLength = 100;

/**
 * The problem that keeps core from sending an object: a name that is not a URL path segment, so
 * that no request can be made; a deployment as its own content; an invalid stage or hook. The API
 * server judges everything else. Undefined when there is none.
 */
export function contentProblem(
  object: KubernetesObject,
  owner: KubernetesObject,
): string | undefined {
  const { name, namespace, labels, annotations } = mapOf(object.metadata);
  const shownName = typeof name === 'string' ? name.slice(0, shownLength) : '';
  const what = `${object.kind.slice(0, shownLength)} "${shownName}"`;
  if (typeof name !== 'string' || name === '') {
    return `${what}: metadata.name must be set (metadata.generateName is not supported)`;
  }
  const nameProblem = segmentProblem(name);
  if (nameProblem !== undefined) return `${what}: metadata.name ${nameProblem}`;
  const namespaceError = namespaceProblem(namespace);
  if (namespaceError !== undefined) return `${what}: metadata.namespace ${namespaceError}`;
  if (!isMapOrAbsent(labels)) return `${what}: metadata.labels must be a map`;
  if (!isMapOrAbsent(annotations)) return `${what}: metadata.annotations must be a map`;
  const annotationError = annotationProblem(object);
  if (annotationError !== undefined) return `${what}: ${annotationError}`;
  if (isOwner(object, owner)) {
    return `${what}: a bundle may not contain the BundleDeployment that installs it; remove it from the bundle`;
  }
  return undefined;
}

function annotationProblem(object: KubernetesObject): string | undefined {
  return stageProblem(object) ?? hookProblem(object);
}

function isOwner(object: KubernetesObject, owner: KubernetesObject): boolean {
  return (
    object.kind === owner.kind &&
    object.metadata.name === owner.metadata.name &&
    gvkOf(object).group === gvkOf(owner).group
  );
}

function namespaceProblem(namespace: unknown): string | undefined {
  if (namespace === undefined || namespace === null) return undefined;
  return typeof namespace === 'string' ? segmentProblem(namespace) : 'must be a string';
}

function segmentProblem(segment: string): string | undefined {
  if (segment === '.' || segment === '..') return `may not be "${segment}"`;
  if (segment.length > maxNameLength) {
    return `has ${segment.length} characters, more than the ${maxNameLength} that there may be`;
  }
  return /[/%]/.test(segment) ? 'may not contain "/" or "%"' : undefined;
}

function isMapOrAbsent(value: unknown): boolean {
  return value === undefined || value === null || isMap(value);
}
