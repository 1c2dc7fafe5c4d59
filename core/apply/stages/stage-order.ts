import { mapOf, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { TerminalError } from '../../errors.ts';
import type { Resource } from '../../platform/kube/index.ts';
import type { DesiredObject } from '../objects/desired.ts';
import { describeObject } from '../objects/object-id.ts';
import { failedReason } from '../objects/operation.ts';
import {
  isBeforeWorkloads,
  isDefinition,
  isNamespaceOrDefinition,
  isWorkload,
} from '../objects/order.ts';

/** An object of a bundle, or a live one. */
interface StagedObject {
  readonly resource: Pick<Resource, 'group' | 'kind'>;
  readonly object: KubernetesObject;
}

/** Stages of objects without an annotation, with room for others between them. */
export const builtInStage = {
  /** Namespaces and CRDs. */
  namespacesAndCRDs: -20,
  /** Accounts, RBAC, configuration, quotas, Services. */
  configuration: -10,
  /** Objects that run pods, and the claims that become ready only with a pod. */
  workload: 0,
  /** Ingresses, APIServices, webhook configurations, custom resources. */
  other: 10,
} as const;

/**
 * The stage of an object: from its annotation `core.rukpak.io/stage`, otherwise from its kind.
 * Lower stages are applied first and deleted last.
 */
export function stageOf(staged: StagedObject): number {
  return annotatedStage(staged.object) ?? stageOfKind(staged.resource);
}

/** The stage in the object's annotation; undefined without one. */
export function annotatedStage(object: KubernetesObject): number | undefined {
  const text = stageText(object);
  return typeof text === 'string' && wholeNumber.test(text) ? Number(text) : undefined;
}

/** The problem of an object's annotation; undefined when it is valid or absent. */
export function stageProblem(object: KubernetesObject): string | undefined {
  const text = stageText(object);
  if (text === undefined || annotatedStage(object) !== undefined) return undefined;
  const shown = JSON.stringify(text).slice(0, 100);
  return `annotation ${annotation.stage} is ${shown}: it must be a whole number of at most six digits, in quotes, such as "5" or "-1"`;
}

const wholeNumber = /^-?\d{1,6}$/;

function stageText({ metadata }: KubernetesObject): unknown {
  return mapOf(metadata.annotations)[annotation.stage];
}

function stageOfKind(resource: StagedObject['resource']): number {
  if (isNamespaceOrDefinition(resource)) return builtInStage.namespacesAndCRDs;
  // A claim may wait for its first pod, so it must not come in a stage before workloads.
  if (isWorkload(resource.kind) || isVolumeClaim(resource)) return builtInStage.workload;
  return isBeforeWorkloads(resource.kind) ? builtInStage.configuration : builtInStage.other;
}

function isVolumeClaim({ group, kind }: StagedObject['resource']): boolean {
  return group === '' && kind === 'PersistentVolumeClaim';
}

const listedProblems = 20;

/** An object of a bundle and its stage. */
type PlacedObject = Pick<DesiredObject, 'key' | 'object'> & StagedObject;

interface StageOrderProblem<T extends PlacedObject> {
  readonly subject: T;
  readonly message: string;
}

/**
 * Checks that no object comes in a stage before its CRD or namespace of the same set: it could be
 * changed later, but never created.
 * @throws TerminalError that lists each such object.
 */
export function checkStageOrder(
  objects: readonly DesiredObject[],
  operation: 'install' | 'upgrade',
): void {
  const problems = stageOrderProblems(objects).map(({ message }) => message);
  if (problems.length === 0) return;
  const reason = failedReason[operation];
  throw new TerminalError(problems.slice(0, listedProblems).join(' && '), { reason });
}

/** The objects that come in a stage before their CRD or namespace, each with a sentence. */
export function stageOrderProblems<T extends PlacedObject>(
  objects: readonly T[],
): readonly StageOrderProblem<T>[] {
  if (!objects.some(({ object }) => annotatedStage(object) !== undefined)) return [];
  const prerequisites = new Map(
    objects
      .filter(({ resource }) => isNamespaceOrDefinition(resource))
      .map((object) => [provided(object), object]),
  );
  return objects.flatMap((subject) =>
    needed(subject).flatMap((need) => {
      const message = problem(subject, prerequisites.get(need));
      return message === undefined ? [] : [{ subject, message }];
    }),
  );
}

function provided({ resource, key, object: { spec } }: PlacedObject): string {
  if (!isDefinition(resource)) return namespaceNeed(key.name);
  return kindNeed(stringAt(spec, 'group'), stringAt(spec, 'names', 'kind'));
}

function needed({ resource, key }: PlacedObject): readonly string[] {
  const kind = kindNeed(resource.group, resource.kind);
  return key.namespace === undefined ? [kind] : [kind, namespaceNeed(key.namespace)];
}

function namespaceNeed(name: string): string {
  return `namespace ${name}`;
}

function kindNeed(group = '', kind = ''): string {
  return `kind ${kind} ${group}`;
}

function problem(object: PlacedObject, needs: PlacedObject | undefined): string | undefined {
  if (needs === undefined || stageOf(needs) <= stageOf(object)) return undefined;
  const subject = describeObject(object.resource.kind, object.key);
  const before = `${needs.resource.kind} "${needs.key.name}"`;
  return (
    `${subject} is in stage ${stageOf(object)}, before stage ${stageOf(needs)} of ${before} that it needs: ` +
    `change the annotation ${annotation.stage} of one of them`
  );
}
