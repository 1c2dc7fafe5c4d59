import {
  type Clock,
  type Condition,
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
  const { failure, served, isBlocked } = outcome;
  const former = served === undefined ? '' : ` (still serving ${served.resolvedRef})`;
  return {
    status: 'False',
    reason: served === undefined ? 'UnpackFailed' : 'RefreshFailed',
    message: `${textOf(failure)}${former}`,
    outlook: isBlocked ? 'stalled' : 'reconciling',
  };
}
