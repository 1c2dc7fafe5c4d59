import { clusterExtensionReason } from '../../../api/olm/v1/index.ts';
import { operatorReason } from '../../../api/operators/v1alpha1/index.ts';
import { progressReason } from '../../../api/v1alpha1/index.ts';
import type { Readiness } from '../../../core/controller.ts';
import type { Admission } from '../dependencies/dependency-gate.ts';
import type { Installation } from '../deployment/installation.ts';
import { isRunning } from '../deployment/rollout.ts';
import type { FailedChoice, Findings } from '../findings.ts';
import { awaitedContent, catalogPending } from './awaited-content.ts';

type Summary = Omit<Readiness, 'observedGeneration'>;

/** Whether a reason of Ready says that the object is being worked on, and nothing is wrong. */
export function isAtWork(reason: string): boolean {
  return (
    reason === catalogPending || reason === clusterExtensionReason.rollingOut || isRunning(reason)
  );
}

/** The summary of all other conditions, by the rules of kstatus. */
export function readinessOf(findings: Findings): Readiness {
  const observedGeneration = findings.extension.object.metadata.generation;
  return { ...summaryOf(findings), observedGeneration };
}

function summaryOf(findings: Findings): Summary {
  const { choice, refusal } = findings;
  const awaited = awaitedContent(findings);
  if (awaited !== undefined) {
    const reason = catalogPending;
    return { status: 'False', reason, message: awaited, outlook: 'reconciling' };
  }
  if (choice.kind === 'failed') return unresolved(choice, findings);
  if (findings.admission?.state === 'held') return waiting(findings.admission);
  if (refusal !== undefined) {
    const reason = operatorReason.installationFailed;
    return { status: 'False', reason, message: refusal, outlook: 'reconciling' };
  }
  return rolledOut(findings);
}

function waiting({ condition }: Admission): Summary {
  const reason = progressReason.waitingForDependencies;
  return { status: 'False', reason, message: condition?.message ?? '', outlook: 'reconciling' };
}

function unresolved({ reason, advice }: FailedChoice, { installation }: Findings): Summary {
  return {
    status: 'False',
    reason: operatorReason.resolutionFailed,
    message: `${advice}${keptBundle(installation)}`,
    // The catalogs may get what is missing.
    outlook: reason === 'invalid-version' ? 'stalled' : 'reconciling',
  };
}

function keptBundle({ installed, record }: Installation): string {
  if (installed === undefined) return '';
  const name = installed.name || installed.image;
  const { selected } = record ?? { selected: installed };
  if (selected.image === installed.image) return ` (bundle "${name}" stays installed)`;
  return ` (bundle "${name}" is installed, and "${selected.name}" stays selected)`;
}

function rolledOut({ rollout }: Findings): Summary {
  if (rollout === undefined || rollout.phase === 'unobserved') {
    const message = 'Core has not reconciled the BundleDeployment yet.';
    const reason = clusterExtensionReason.rollingOut;
    return { status: 'False', reason, message, outlook: 'reconciling' };
  }
  const { phase, reason, message, isReady } = rollout;
  if (isReady) return { status: 'True', reason, message };
  const outlook = phase === 'blocked' ? 'stalled' : 'reconciling';
  return { status: 'False', reason, message, ...(phase === 'finished' ? {} : { outlook }) };
}
