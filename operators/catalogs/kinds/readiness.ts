import {
  type Clock,
  type Condition,
  findCondition,
  type Readiness,
  withReadiness,
} from '../../../core/controller.ts';
import type { CatalogFailure } from '../source/catalog-failure.ts';
import type { CatalogOutcome } from './catalog-kind.ts';

interface Summary {
  readonly outcome: CatalogOutcome;
  readonly textOf: (failure: CatalogFailure) => string;
  readonly generation: number | undefined;
  readonly clock: Clock;
}

const contentLost = 'ContentLost';

/** The generation that was unpacked before its content got lost, by these conditions. */
export function lostGeneration(conditions: readonly Condition[] | undefined): number | undefined {
  const ready = findCondition(conditions, 'Ready');
  return ready?.reason === contentLost ? ready.observedGeneration : undefined;
}

/** The conditions with Ready, Reconciling and Stalled by the rules of kstatus. */
export function withSummary(
  conditions: readonly Condition[],
  { outcome, textOf, generation, clock }: Summary,
): readonly Condition[] {
  const readiness = { ...readinessOf(outcome, textOf), observedGeneration: generation };
  return withReadiness(conditions, readiness, clock);
}

function readinessOf(
  outcome: CatalogOutcome,
  textOf: Summary['textOf'],
): Omit<Readiness, 'observedGeneration'> {
  if (outcome.kind === 'unpacked') {
    const message = `Serving the content of ${outcome.served.resolvedRef}.`;
    return { status: 'True', reason: 'Serving', message };
  }
  if (outcome.kind === 'unavailable') {
    const message = 'Catalog availability mode is set to Unavailable';
    return { status: 'True', reason: 'Unavailable', message };
  }
  if (outcome.kind === 'deletion failed') {
    const { message } = outcome;
    return { status: 'False', reason: 'FailedToDelete', message, outlook: 'reconciling' };
  }
  const { failure, served, isBlocked, lost } = outcome;
  const former = served === undefined ? '' : ` (still serving ${served.resolvedRef})`;
  const next = lost === undefined ? '' : `. ${retried(lost)}`;
  return {
    status: 'False',
    reason: reasonOf(outcome),
    message: `${textOf(failure)}${former}${next}`,
    outlook: isBlocked ? 'stalled' : 'reconciling',
  };
}

function reasonOf({ served, lost }: Extract<CatalogOutcome, { kind: 'failed' }>): string {
  if (lost !== undefined) return contentLost;
  return served === undefined ? 'UnpackFailed' : 'RefreshFailed';
}

function retried(lost: string): string {
  return `The controller retries to fetch ${lost}, which the catalog served before; change spec.source.image to serve other content.`;
}
