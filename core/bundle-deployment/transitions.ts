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

/** Reasons that only repeat another condition's news, or report none. */
const silent: ReadonlySet<string> = new Set([reason.installationStatusFalse, reason.unpackPending]);

/**
 * Milliseconds after an installation in which its health gets no Event: most installations become
 * healthy by then.
 */
const settling = 10_000;

const summaries: ReadonlySet<string> = new Set(Object.values(kstatusCondition));

/** Reasons of waiting that somebody asked for. */
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
  /** Its health was bad and got no Event yet. */
  owesHealth: boolean;
}

/**
 * Records an Event for each condition with news. Because each Event costs a request, an
 * installation that is healthy within seconds gets one Event; a later change gets its own.
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

  /** Call this at the end of each reconcile, even if it changed nothing. */
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

  /** The news without the health of an installation that still settles. */
  #spoken({ installation }: DeploymentMemory, news: readonly Condition[]): readonly Condition[] {
    if (installation === undefined || this.#isSettled(installation)) return news;
    return news.filter(({ type, status, reason: why }) => {
      if (type === bundleDeploymentCondition.healthy) installation.owesHealth = status !== 'True';
      return type !== bundleDeploymentCondition.healthy && why !== reason.unpackSuccessful;
    });
  }

  /** The bad health of an installation after its time to settle. */
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

/**
 * Ready only summarizes the other conditions, except for what a Bundle waits for, which no other
 * condition says.
 */
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
