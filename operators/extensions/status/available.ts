import type { AvailableBundle } from '../../../api/operators/v1alpha1/index.ts';
import { progressReason } from '../../../api/v1alpha1/index.ts';
import { conditionMessage } from '../../../core/controller.ts';
import type { NewestBundle } from '../../../resolver/olm1/index.ts';
import { bundleVersion } from '../deployment/bundle-record.ts';
import type { Findings } from '../findings.ts';

/** `before` while a catalog is pending; undefined if no catalog has the package. */
export function availableBundle(
  findings: Findings,
  before: AvailableBundle | undefined,
): AvailableBundle | undefined {
  const { choice } = findings;
  if (choice.kind === 'pending') return before;
  if (choice.newest === undefined) return undefined;
  const { bundle, catalog } = choice.newest;
  const newest = { name: bundle.name, version: bundleVersion(bundle), catalog: catalog.name };
  const { reason, message } = whyNot(findings, choice.newest);
  if (message === undefined) return newest;
  return { ...newest, reason, message: conditionMessage(message) };
}

/** Why the newest bundle is not installed; empty if it is, or if core is at it. */
function whyNot(
  findings: Findings,
  { bundle, notTaken }: NewestBundle,
): Pick<AvailableBundle, 'reason' | 'message'> {
  const { choice, installation, refusal, admission } = findings;
  if (installation.installed?.image === bundle.image) return {};
  if (choice.kind === 'failed') return { reason: 'ResolutionFailed', message: choice.advice };
  if (notTaken !== undefined) return { reason: 'NotAllowed', message: notTaken };
  if (admission?.state === 'held') {
    return { reason: progressReason.waitingForDependencies, message: admission.condition?.message };
  }
  const failure = refusal ?? troubleOf(findings);
  return failure === undefined ? {} : { reason: 'InstallationFailed', message: failure };
}

function troubleOf({ rollout }: Findings): string | undefined {
  return rollout?.phase === 'blocked' || rollout?.phase === 'retrying'
    ? rollout.message
    : undefined;
}
