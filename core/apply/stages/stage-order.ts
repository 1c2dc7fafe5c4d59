import { bundleDeploymentReason } from '../../../api/v1alpha1/conditions.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { TerminalError } from '../../errors.ts';
import { stringAt } from '../fields/json-fields.ts';
import type { DesiredObject } from '../objects/desired.ts';
import { describeObject } from '../objects/object-id.ts';
import { isDefinition, isFoundation } from '../objects/order.ts';
import { annotatedStage, type StagedObject, stageOf } from './stage-of.ts';

const listedProblems = 20;

/** An object of a bundle and where it goes. */
export type PlacedObject = Pick<DesiredObject, 'key' | 'object'> & StagedObject;

export interface StageOrderProblem<T extends PlacedObject> {
  readonly subject: T;
  readonly message: string;
}

/**
 * Makes sure that no object comes in a stage before its CRD or its namespace, where the set has
 * them: it could never be created, though it might be changed later.
 * @throws TerminalError that lists each such object.
 */
export function checkStageOrder(
  objects: readonly DesiredObject[],
  operation: 'install' | 'upgrade',
): void {
  const problems = stageOrderProblems(objects).map(({ message }) => message);
  if (problems.length === 0) return;
  const { installFailed, upgradeFailed } = bundleDeploymentReason;
  const reason = operation === 'install' ? installFailed : upgradeFailed;
  throw new TerminalError(problems.slice(0, listedProblems).join(' && '), { reason });
}

/** The objects that come in a stage before what they need, each with a sentence. */
export function stageOrderProblems<T extends PlacedObject>(
  objects: readonly T[],
): readonly StageOrderProblem<T>[] {
  if (!objects.some(({ object }) => annotatedStage(object) !== undefined)) return [];
  const foundation = new Map(
    objects
      .filter(({ resource }) => isFoundation(resource))
      .map((object) => [provided(object), object]),
  );
  return objects.flatMap((subject) =>
    needed(subject).flatMap((need) => {
      const message = problem(subject, foundation.get(need));
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
