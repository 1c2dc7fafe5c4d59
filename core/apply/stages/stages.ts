import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { progressReason } from '../../../api/v1alpha1/conditions.ts';
import type { Blocked } from '../../contracts/applier.ts';
import { ApiError } from '../../platform/kube/index.ts';
import type { DriftDetector } from '../drift/drift.ts';
import { driftMode } from '../drift/drift-policy.ts';
import type { CheckedObject, DesiredObject, PlannedObject } from '../objects/desired.ts';
import { type ApplyFailure, failuresError } from '../objects/failures.ts';
import { forEachLimit } from '../objects/for-each-limit.ts';
import type { Operation } from '../objects/operation.ts';
import { inKindOrder, isNamespaceOrDefinition } from '../objects/order.ts';
import { OwnershipRefusal } from '../ownership/ownership-check.ts';
import type { OwnerState } from '../state/owner-state.ts';
import { annotatedStage, stageOf } from './stage-order.ts';

const concurrentWrites = 8;
const shownProblems = 3;

/** The objects of one stage, which are applied together. */
export interface Stage<P extends PlannedObject = CheckedObject> {
  /** Undefined when the set has no stages. */
  readonly number: number | undefined;
  /** All objects of the stage, including unchanged ones. */
  readonly objects: readonly DesiredObject[];
  readonly pending: readonly P[];
}

interface StageSteps {
  readonly operation: Operation;
  apply(object: CheckedObject): Promise<void>;
  /**
   * Runs after a stage's namespaces and CRDs; resolves when the stage's other objects can be
   * created.
   */
  definitionsWritten(stage: Stage): Promise<readonly ApplyFailure[]>;
  /** Undefined when stages do not wait for the one before. */
  readonly problemOf?: ProblemOf | undefined;
}

export interface StagesResult {
  /** Refused objects; later stages were not started. */
  readonly failures: readonly ApplyFailure[];
  /** Set when a stage waits for the one before. */
  readonly blocked?: Blocked;
}

interface Content<P extends PlannedObject> {
  /** Every object of the set. */
  readonly objects: readonly DesiredObject[];
  /** Objects that need a request. */
  readonly pending: readonly P[];
  /** Whether each stage starts only when the one before is ready. */
  readonly waits: boolean;
}

/** The stages of a set, lowest first; a single one when no object has a stage annotation. */
export function stagesOf<P extends PlannedObject>(content: Content<P>): readonly Stage<P>[] {
  const { objects, pending, waits } = content;
  const isStaged = waits || objects.some(({ object }) => annotatedStage(object) !== undefined);
  if (!isStaged) return [{ number: undefined, objects, pending }];
  const pendingOf = Map.groupBy(pending, ({ desired }) => stageOf(desired));
  return [...Map.groupBy(objects, stageOf)]
    .sort(([a], [b]) => a - b)
    .map(([number, members]) => ({
      number,
      objects: members,
      pending: pendingOf.get(number) ?? [],
    }));
}

/**
 * Applies stage after stage; stops at one that is refused, or at one that is not ready when stages
 * wait.
 */
export async function runStages(
  stages: readonly Stage[],
  steps: StageSteps,
): Promise<StagesResult> {
  for (const [index, stage] of stages.entries()) {
    const failures = stage.pending.length === 0 ? [] : await runStage(stage, steps);
    if (failures.length > 0) return { failures };
    const blocked = waiting(stage, stages.slice(index + 1), steps.problemOf);
    if (blocked !== undefined) return { failures, blocked };
  }
  return { failures: [] };
}

/** Why core cannot send even the first object: the stage before its own is not ready. */
export function holdUpBeforeFirst(
  stages: readonly Stage<PlannedObject>[],
  problemOf: ProblemOf | undefined,
): Blocked | undefined {
  for (const [index, stage] of stages.entries()) {
    if (stage.pending.length > 0) return undefined;
    const blocked = waiting(stage, stages.slice(index + 1), problemOf);
    if (blocked !== undefined) return blocked;
  }
  return undefined;
}

/**
 * Applies namespaces and CRDs; after they all succeeded, the rest, kind after kind. A refused
 * object does not stop the others; an unreachable server stops all.
 */
async function runStage(stage: Stage, steps: StageSteps): Promise<readonly ApplyFailure[]> {
  const items = stage.pending.map((object) => ({ object, resource: object.desired.resource }));
  const first = items.filter(({ resource }) => isNamespaceOrDefinition(resource));
  const failures = await applyItems(first, steps);
  if (failures.length > 0) return failures;
  const refused = await steps.definitionsWritten(stage);
  if (refused.length > 0) return refused;
  return await applyItems(
    items.filter(({ resource }) => !isNamespaceOrDefinition(resource)),
    steps,
  );
}

interface StageItem {
  readonly object: CheckedObject;
  readonly resource: CheckedObject['desired']['resource'];
}

async function applyItems(
  items: readonly StageItem[],
  steps: StageSteps,
): Promise<readonly ApplyFailure[]> {
  const failures: ApplyFailure[] = [];
  for (const group of inKindOrder(items)) {
    await forEachLimit(group, concurrentWrites, async ({ object }) => {
      try {
        await steps.apply(object);
      } catch (error) {
        if (error instanceof OwnershipRefusal) throw error;
        const action = object.live === undefined ? 'create' : 'patch';
        const failure: ApplyFailure = { object: object.desired, action, error };
        if (!(error instanceof ApiError)) throw failuresError([failure], steps.operation);
        failures.push(failure);
      }
    });
  }
  return failures;
}

function waiting(
  stage: Stage<PlannedObject>,
  later: readonly Stage<PlannedObject>[],
  problemOf: ProblemOf | undefined,
): Blocked | undefined {
  const next = later.find(({ pending }) => pending.length > 0);
  if (next === undefined || problemOf === undefined) return undefined;
  const problems = stage.objects.flatMap((object) => problemOf(object) ?? []);
  if (problems.length === 0) return undefined;
  const shown = problems.slice(0, shownProblems).join('; ');
  const more = problems.length - shownProblems;
  const rest = more > 0 ? `; and ${more} more` : '';
  return {
    reason: progressReason.waitingForStage,
    message: `stage ${next.number} waits for stage ${stage.number}: ${shown}${rest}`,
  };
}

/**
 * The stages to apply: all, or only what hooks need. Hooks need namespaces and CRDs, except those
 * whose annotation puts them into a stage.
 */
export function stagesToRun(
  { foundationOnly }: { readonly foundationOnly: boolean },
  content: Parameters<typeof stagesOf<CheckedObject>>[0],
): readonly Stage[] {
  if (!foundationOnly) return stagesOf(content);
  const pending = content.pending.filter(
    ({ desired: { resource, object } }) =>
      isNamespaceOrDefinition(resource) && annotatedStage(object) === undefined,
  );
  // Without waiting: other objects may have to come in a stage.
  return [{ number: undefined, objects: [], pending }];
}

/** The line for an object that is not healthy. */
type ProblemOf = (object: DesiredObject) => string | undefined;

/** What a run remembers of the objects that it applied before. */
interface AppliedRun {
  readonly owner: BundleDeployment;
  /** Start each stage only when the one before is healthy. */
  readonly waitForReady: boolean;
  readonly state: OwnerState;
}

/**
 * Judges the health of applied objects from what the watches know; their next change of health
 * wakes the owner. The message names accepted drift, because only others can end that wait.
 * Undefined when stages do not wait, or when the plan contains only repairs.
 */
export function readinessOf(
  run: AppliedRun,
  plan: readonly PlannedObject[],
  drift: Pick<DriftDetector, 'health'>,
): ProblemOf | undefined {
  if (!run.waitForReady || plan.every(({ repair }) => repair)) return undefined;
  return ({ id }) => {
    // The health of an object that another deployment has wakes only that one.
    const record = run.state.ownRecordOf(id);
    if (record === undefined) return undefined;
    const problem = drift.health(record);
    if (problem === undefined || record.accepted === undefined) return problem;
    const mode = driftMode(run.owner);
    return `${problem} (others changed or deleted it, and core does not revert that while spec.drift.mode is ${mode})`;
  };
}
