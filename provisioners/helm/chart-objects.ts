import { annotation } from '../../api/v1alpha1/labels.ts';
import {
  errorMessage,
  type KubernetesObject,
  parseManifests,
  TerminalError,
} from '../../core/sdk.ts';
import type { CrdPolicy, HelmConfig } from './config.ts';
import type {
  HookDeletePolicy,
  HookEvent,
  RenderedChart,
  RenderedFile,
  RenderedHook,
} from './engine/chart-engine.ts';

/**
 * The objects of a rendered chart: CRDs of crds/ are kept on deletion, and hooks get core's
 * annotations in addition to Helm's.
 * @throws TerminalError that names the template.
 */
export function chartObjects(
  { crds, manifests, hooks }: RenderedChart,
  { crds: policy, releaseNamespace }: Pick<HelmConfig, 'crds' | 'releaseNamespace'>,
  maxObjects: number,
): readonly KubernetesObject[] {
  const objects: KubernetesObject[] = [];
  const add = (added: readonly KubernetesObject[]): void => {
    objects.push(...added);
    if (objects.length > maxObjects) throw tooMany(maxObjects);
  };
  if (policy !== 'Skip') {
    for (const file of crds) {
      add(fileObjects(file, maxObjects).map((object) => keptDefinition(object, policy)));
    }
  }
  for (const file of manifests) add(fileObjects(file, maxObjects));
  for (const hook of hooks) add(hookObjects(hook, maxObjects));
  if (objects.length === 0) throw nothing();
  return releaseNamespace === undefined
    ? objects
    : objects.map((object) => inNamespace(object, releaseNamespace));
}

/** Cluster-scoped objects lose the namespace when they are applied. */
function inNamespace(object: KubernetesObject, namespace: string): KubernetesObject {
  const { metadata } = object;
  return metadata.namespace ? object : { ...object, metadata: { ...metadata, namespace } };
}

function tooMany(maxObjects: number): TerminalError {
  return new TerminalError(
    `the chart renders more than ${maxObjects} objects (--max-content-entries): split it`,
  );
}

/** Probably a mistake: an empty result would delete everything that is installed. */
function nothing(): TerminalError {
  return new TerminalError(
    'the chart renders no objects with these values: set those that enable something in spec.config.values, or delete the BundleDeployment',
  );
}

/**
 * The objects of one rendered document, as kubectl reads them, with lists flattened.
 * @throws TerminalError that names the template without quoting its output, which may belong to a
 * Secret.
 */
function fileObjects(
  { path, text }: RenderedFile,
  maxObjects: number,
): readonly KubernetesObject[] {
  const objects = parsed(path, text, maxObjects);
  for (const object of objects) check(path, object);
  return objects;
}

const withoutKind = /^unable to decode .*: Object 'Kind' is missing in /;

function parsed(path: string, text: string, maxObjects: number): readonly KubernetesObject[] {
  try {
    return parseManifests(path, Buffer.from(text), maxObjects);
  } catch (error) {
    if (withoutKind.test(errorMessage(error))) throw lacks(path, 'an object', 'kind');
    throw error;
  }
}

function check(path: string, { apiVersion, kind, metadata }: KubernetesObject): void {
  if (apiVersion === '') throw lacks(path, `${kind} "${metadata.name ?? ''}"`, 'apiVersion');
  if (!metadata.name) throw lacks(path, `an object of kind ${kind}`, 'metadata.name');
}

function lacks(path: string, what: string, field: string): TerminalError {
  return new TerminalError(`template ${path} renders ${what} without ${field}`);
}

/**
 * A CRD of a chart's crds/: as in Helm it outlives the deployment, and a later chart without it.
 * Unlike in Helm it is upgraded, which the crdvalidator checks unless it is disabled for the CRD.
 */
function keptDefinition(object: KubernetesObject, policy: CrdPolicy): KubernetesObject {
  const unchecked = policy === 'Replace' ? { [annotation.safeCrdUpgrade]: 'false' } : {};
  return annotated(object, { [annotation.keep]: 'true', ...unchecked });
}

/**
 * The events that core runs. A rollback in core is an upgrade to an earlier Bundle, with the
 * upgrade hooks of that one; tests are for `helm test`, which needs a release.
 */
const served: ReadonlySet<HookEvent> = new Set<HookEvent>([
  'pre-install',
  'post-install',
  'pre-upgrade',
  'post-upgrade',
  'pre-delete',
  'post-delete',
]);

/** Helm accepts any policy in a chart, and acts on these. */
const known: ReadonlySet<HookDeletePolicy> = new Set<HookDeletePolicy>([
  'before-hook-creation',
  'hook-succeeded',
  'hook-failed',
]);

/** The objects of a hook with core's annotations; empty when core runs none of its events. */
function hookObjects(hook: RenderedHook, maxObjects: number): readonly KubernetesObject[] {
  const events = hook.events.filter((event) => served.has(event));
  if (events.length === 0) return [];
  const named = hook.deletePolicies.filter((policy) => known.has(policy));
  // Helm's default.
  const policies = named.length === 0 ? ['before-hook-creation'] : named;
  return fileObjects(hook, maxObjects).map((object) =>
    annotated(object, {
      [annotation.hook]: events.join(','),
      [annotation.hookWeight]: String(hook.weight),
      [annotation.hookDeletePolicy]: policies.join(','),
    }),
  );
}

/** The object with additional annotations. */
function annotated(
  object: KubernetesObject,
  annotations: Readonly<Record<string, string>>,
): KubernetesObject {
  const { metadata } = object;
  return {
    ...object,
    metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } },
  };
}
