import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import type {
  Applier,
  ApplyRequest,
  ApplyResult,
  Forecast,
  HealthProblem,
  HookProgress,
  HookRequest,
  ObjectNews,
  RemoveRequest,
  RemoveResult,
} from '../contracts/applier.ts';
import { isKindNotFound } from '../platform/kube/index.ts';
import { applyRun } from './apply-run.ts';
import { awaitedController } from './awaited-controller.ts';
import { type ApplyEngineOptions, type EngineParts, engineParts } from './engine-parts.ts';
import { forecastRun } from './forecast-run.ts';
import { notYetJudged } from './health/rules/own-verdicts.ts';
import { PodReasons } from './pod-reasons.ts';
import { removeRun } from './removal.ts';

/** Applies sets of objects with server-side apply, and watches over them. */
export class ApplyEngine implements Applier {
  readonly #parts: EngineParts;
  readonly #podReasons: PodReasons;
  readonly #listeners: ((owner: string, news: ObjectNews) => void)[] = [];

  constructor(options: ApplyEngineOptions) {
    this.#parts = engineParts(options, (owner, news = 'change') => {
      for (const listener of this.#listeners) listener(owner, news);
    });
    this.#podReasons = new PodReasons(this.#parts);
  }

  async apply(request: ApplyRequest): Promise<ApplyResult> {
    try {
      return await applyRun(this.#parts, request);
    } catch (error) {
      // Somebody may have made a CRD anew, with another scope: nothing else tells.
      if (error instanceof Error && isKindNotFound(error.cause)) {
        this.#parts.options.discovery.invalidate();
      }
      // It may be for lack of a permission that the owner's account had.
      this.#parts.preflight.forget(request.owner.metadata.name ?? '');
      throw error;
    }
  }

  async plan(request: ApplyRequest): Promise<Forecast> {
    return await forecastRun(this.#parts, request);
  }

  async remove(request: RemoveRequest): Promise<RemoveResult> {
    return await removeRun(this.#parts, request);
  }

  async runHook(request: HookRequest): Promise<HookProgress> {
    return await this.#parts.hooks.run(request);
  }

  async removeHook(request: HookRequest): Promise<void> {
    await this.#parts.hooks.remove(request);
  }

  health(owner: BundleDeployment): readonly HealthProblem[] {
    const { records, drift, inventory, rules } = this.#parts;
    const name = owner.metadata.name ?? '';
    const problems = records.of(name).flatMap((record): HealthProblem[] => {
      const problem = drift.health(record);
      if (problem === undefined) return [];
      const isUnknown = record.found === true && problem.endsWith(notYetJudged);
      if (isUnknown) return [{ message: problem, unknown: true }];
      const awaited = awaitedController(inventory.get(record.resource, record.key)?.object);
      return [{ message: awaited === undefined ? problem : `${problem} (${awaited})` }];
    });
    return oneFor(rules.commonProblem(name), problems);
  }

  async explainedHealth(
    owner: BundleDeployment,
    signal: AbortSignal,
  ): Promise<readonly HealthProblem[]> {
    const reasons = await this.#podReasons.of(owner, signal);
    return this.health(owner).map((problem) => {
      const reason = reasons.get(problem.message);
      return reason === undefined ? problem : { message: `${problem.message} (${reason})` };
    });
  }

  knows(ownerName: string): boolean {
    return this.#parts.records.of(ownerName).length > 0;
  }

  forget(ownerName: string): void {
    const { records, rules, drift, claims, parents, preflight, occupied, removals, confirmed } =
      this.#parts;
    for (const { id } of records.of(ownerName)) drift.forget(id);
    records.forget(ownerName);
    rules.forget(ownerName);
    claims.releaseAll(ownerName);
    this.#parts.given.forget(ownerName);
    this.#parts.sharedNamespaces.forget(ownerName);
    this.#parts.optionalKinds.forget(ownerName);
    this.#podReasons.forget(ownerName);
    parents.forget(ownerName);
    this.#parts.restored.forget(ownerName);
    this.#parts.finished.forget(ownerName);
    this.#parts.earlierKinds.forget(ownerName);
    preflight.forget(ownerName);
    occupied.delete(ownerName);
    removals.forget(ownerName);
    confirmed.forget(ownerName);
    this.#parts.hookWatch.forget(ownerName);
  }

  onChange(listener: (ownerName: string, news: ObjectNews) => void): void {
    this.#listeners.push(listener);
  }
}

/** The problems, but one alone of all objects whose problem is the same. */
function oneFor(
  problem: string | undefined,
  problems: readonly HealthProblem[],
): readonly HealthProblem[] {
  if (problem === undefined) return problems;
  const isSame = ({ message }: HealthProblem): boolean => message.endsWith(problem);
  const same = problems.filter(isSame);
  const [first] = same;
  if (first === undefined || same.length === 1) return problems;
  const message = `${first.message} (and ${same.length - 1} more objects)`;
  const others = problems.filter((each) => !isSame(each));
  return [
    ...others,
    same.every(({ unknown }) => unknown) ? { message, unknown: true } : { message },
  ];
}
