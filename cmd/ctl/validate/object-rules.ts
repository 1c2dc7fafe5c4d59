import { isDeepStrictEqual } from 'node:util';
import { contentProblem } from '../../../core/apply/content-check.ts';
import { isDefinition } from '../../../core/apply/order.ts';
import { stageOrderProblems } from '../../../core/apply/stage-order.ts';
import { gvkOf } from '../../../core/kube/resource.ts';
import type { KubernetesObject } from '../../../core/sdk.ts';
import type { LocatedObject } from './manifest-objects.ts';
import type { Problem } from './problem.ts';

/** What is wrong with a bundle's objects that shows only when they are applied. Pure. */
type ObjectRule = (objects: readonly LocatedObject[]) => readonly Problem[];

/** For every class; what a class itself refuses it says itself. */
export const objectRules: readonly ObjectRule[] = [
  missingApiVersion,
  unusableNames,
  formerDefinitions,
  repeatedObjects,
  lateFoundations,
];

/** Where objects keep the namespaces that they are written with. */
export const plainObjectRules: readonly ObjectRule[] = [...objectRules, foreignNamespaces];

function missingApiVersion(objects: readonly LocatedObject[]): readonly Problem[] {
  return objects
    .filter(({ object }) => object.apiVersion === '')
    .map(({ file, object }) => ({
      severity: 'error',
      file,
      message: `${describe(object)} has no apiVersion`,
      fix: 'add it, for example "apiVersion: v1"',
    }));
}

/** Any deployment would be asked the same: none has an empty name. */
const anyDeployment: KubernetesObject = {
  apiVersion: 'core.rukpak.io/v1alpha1',
  kind: 'BundleDeployment',
  metadata: { name: '' },
};

function unusableNames(objects: readonly LocatedObject[]): readonly Problem[] {
  return objects.flatMap(({ file, object }) => {
    const message = contentProblem(object, anyDeployment);
    return message === undefined
      ? []
      : [{ severity: 'error', file, message, fix: 'correct its metadata' } as const];
  });
}

function formerDefinitions(objects: readonly LocatedObject[]): readonly Problem[] {
  return objects
    .filter(({ object }) => isDefinition(gvkOf(object)) && gvkOf(object).version === 'v1beta1')
    .map(({ file, object }) => ({
      severity: 'error',
      file,
      message: `${describe(object)} is of apiextensions.k8s.io/v1beta1, which no cluster since Kubernetes 1.22 serves`,
      fix: 'write it as apiextensions.k8s.io/v1, with a structural schema',
    }));
}

function repeatedObjects(objects: readonly LocatedObject[]): readonly Problem[] {
  const groups = Map.groupBy(objects, ({ object }) => identityOf(object));
  return [...groups.values()].flatMap((group): Problem[] => {
    const [first, ...rest] = group;
    const last = rest.at(-1);
    if (first === undefined || last === undefined || first.object.metadata.name === undefined) {
      return [];
    }
    const files = [...new Set(group.map(({ file }) => file))].join(' and ');
    const same = group.every(({ object }) => isDeepStrictEqual(object, first.object));
    return [
      {
        severity: 'warning',
        file: last.file,
        message: `${describe(first.object)} is there ${group.length} times (${files})`,
        fix: same ? 'keep one of them' : 'keep one of them: they differ, and the last one wins',
      },
    ];
  });
}

/** Namespaces and CRDs in a stage after that of what needs them. */
function lateFoundations(objects: readonly LocatedObject[]): readonly Problem[] {
  const placed = objects
    .filter(({ object }) => contentProblem(object, anyDeployment) === undefined)
    .map((located) => {
      const { name = '', namespace } = located.object.metadata;
      return { ...located, resource: gvkOf(located.object), key: { name, namespace } };
    });
  return stageOrderProblems(placed).map(({ subject: { file }, message }) => ({
    severity: 'error',
    file,
    message,
    fix: 'a higher number comes later',
  }));
}

/** Namespaces that every cluster has. */
const present: ReadonlySet<string> = new Set(['', 'default', 'kube-system', 'kube-public']);

function foreignNamespaces(objects: readonly LocatedObject[]): readonly Problem[] {
  const made = new Set(
    objects
      .filter(({ object }) => object.apiVersion === 'v1' && object.kind === 'Namespace')
      .map(({ object }) => object.metadata.name),
  );
  const strangers = objects.filter(({ object: { metadata } }) => {
    const { namespace = '' } = metadata;
    return typeof namespace === 'string' && !present.has(namespace) && !made.has(namespace);
  });
  const groups = Map.groupBy(strangers, ({ object }) => object.metadata.namespace ?? '');
  return [...groups].map(([namespace, group]) => ({
    severity: 'warning',
    file: group[0]?.file ?? '',
    message: `namespace "${namespace}" is not in the bundle (${group.length} of its objects are to go there)`,
    fix: 'make it before the bundle is installed, or add it to the bundle',
  }));
}

function identityOf({ apiVersion, kind, metadata }: KubernetesObject): string {
  const { group } = gvkOf({ apiVersion, kind });
  return JSON.stringify([group, kind, metadata.namespace ?? '', metadata.name ?? '']);
}

function describe({ kind, metadata: { name, namespace } }: KubernetesObject): string {
  const path = [namespace, name].filter(Boolean).join('/');
  return `${kind} "${path}"`;
}
