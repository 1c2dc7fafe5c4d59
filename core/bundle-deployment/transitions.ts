import type { Condition } from '../../api/meta.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import {
  bundleDeploymentCondition,
  kstatusCondition,
  progressReason,
  readyReason,
  bundleDeploymentReason as reason,
} from '../../api/v1alpha1/conditions.ts';
import type { EventSink } from '../contracts/event-sink.ts';
import type { Clock } from '../platform/clock.ts';
import { findCondition } from '../platform/runtime/index.ts';
import type { DeploymentMemories, DeploymentMemory } from './memory.ts';

/** Reasons that merely repeat another condition's news, or say that there is none yet. */
const silent: ReadonlySet<string> = new Set([reason.installationStatusFalse, reason.unpackPending]);

/** Milliseconds after an installation in which its health goes without saying: most settle by then. */
const settling = 10_000;

const summaries: ReadonlySet<string> = new Set(Object.values(kstatusCondition));

/** Some waiting was asked for. */
const expected: ReadonlySet<string> = new Set([
  progressReason.paused,
  progressReason.awaitingApproval,
  progressReason.waitingForDependencies,
  progressReason.waitingForStage,
  progressReason.waitingForHook,
  progressReason.deleting,
]);

interface Transition {
  readonly before: BundleDeployment;
  readonly after: BundleDeployment;
}

export interface Installation {
  readonly at: number;
  /** Its health was not told of, and is not good. */
  owesHealth: boolean;
}

/**
 * Records an Event for each condition that says something new. An Event is a request: what is
 * installed and healthy within seconds is told of by one, and what is not is told of after them.
 */
export class TransitionEvents {
  readonly #events: EventSink;
  readonly #clock: Clock;
  readonly #memories: DeploymentMemories;

  constructor(
    { events, clock }: { readonly events: EventSink; readonly clock: Clock },
    memories: DeploymentMemories,
  ) {
    this.#events = events;
    this.#clock = clock;
    this.#memories = memories;
  }

  /** To be called at the end of each reconcile, also of one that changed nothing. */
  record({ before, after }: Transition): void {
    const memory = this.#memories.of(after.metadata.name);
    const news = newsOf({ before, after });
    if (news.some(({ reason: why }) => why === reason.installationSucceeded)) {
      memory.installation = { at: this.#clock.monotonic(), owesHealth: false };
    }
    for (const condition of new Set([
      ...this.#spoken(memory, news),
      ...this.#owed(memory, after),
    ])) {
      this.#events.event(after, {
        type: isExpected(condition) ? 'Normal' : 'Warning',
        reason: condition.reason,
        message: condition.message,
      });
    }
  }

  /** What of the news does not go without saying. */
  #spoken({ installation }: DeploymentMemory, news: readonly Condition[]): readonly Condition[] {
    if (installation === undefined || this.#isSettled(installation)) return news;
    return news.filter(({ type, status, reason: why }) => {
      if (type === bundleDeploymentCondition.healthy) installation.owesHealth = status !== 'True';
      return type !== bundleDeploymentCondition.healthy && why !== reason.unpackSuccessful;
    });
  }

  /** What an installation turned out to be that was expected to become healthy at once. */
  #owed(memory: DeploymentMemory, { status }: BundleDeployment): readonly Condition[] {
    const { installation } = memory;
    if (installation === undefined || !this.#isSettled(installation)) return [];
    delete memory.installation;
    const health = findCondition(status?.conditions, bundleDeploymentCondition.healthy);
    return installation.owesHealth && health?.reason === reason.unhealthy ? [health] : [];
  }

  #isSettled({ at }: Installation): boolean {
    return this.#clock.monotonic() - at >= settling;
  }
}

function newsOf({ before, after }: Transition): readonly Condition[] {
  return (after.status?.conditions ?? []).filter((condition) => {
    const old = findCondition(before.status?.conditions, condition.type);
    return !goesWithoutSaying(condition, after) && !sameNews(condition, old);
  });
}

/** Ready sums the others up; what a Bundle waits for is said there alone. */
function goesWithoutSaying({ type, reason: why, message }: Condition, after: BundleDeployment) {
  if (!summaries.has(type)) return silent.has(why);
  if (type !== kstatusCondition.ready) return true;
  const { hasValidBundle } = bundleDeploymentCondition;
  const waiting = findCondition(after.status?.conditions, hasValidBundle)?.message;
  return (
    why !== readyReason.classNotServed && (why !== reason.unpackPending || message === waiting)
  );
}

function sameNews(condition: Condition, old: Condition | undefined): boolean {
  return old?.reason === condition.reason && old.message === condition.message;
}

function isExpected({ type, status, reason: why }: Condition): boolean {
  if (type === bundleDeploymentCondition.drifted) return status !== 'True';
  return status === 'True' || expected.has(why);
}
