import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import type { HoldUp } from '../contracts/applier.ts';
import type { BundleDeploymentDependencies, OwnedBundleCache } from './dependencies.ts';
import { isOwn, ownBundle } from './own-bundles.ts';
import type { BundleDeploymentState, StepOutcome } from './state.ts';

/**
 * Notes why the Bundle of the template is not brought out now, for the condition Progressing, and
 * goes on with what is installed: its drift is repaired however long the new one waits.
 */
export function holdUp(
  state: BundleDeploymentState,
  dependencies: Pick<BundleDeploymentDependencies, 'bundles'>,
  because: HoldUp,
): StepOutcome {
  state.holdUp ??= because;
  return fallBack(state, dependencies);
}

/** Makes the active Bundle the one to apply; ends the reconcile where there is none to apply. */
export function fallBack(
  state: BundleDeploymentState,
  { bundles }: Pick<BundleDeploymentDependencies, 'bundles'>,
): StepOutcome {
  const { activeBundle, rollback } = state.status;
  const name = rollback?.to ?? activeBundle;
  const target = keptBundle(state, bundles) ?? unpackedBundle(state.deployment, name, bundles);
  if (target === undefined) return 'done';
  state.target = target;
  return 'continue';
}

/**
 * What is installed, where its Bundle is gone and its content is not: one that has come under its
 * name since may have other content, and does not take its place before it is unpacked.
 */
export function keptBundle(
  { deployment, status }: BundleDeploymentState,
  bundles: Pick<OwnedBundleCache, 'kept'>,
): Bundle | undefined {
  const { activeBundle = '', rollback, applied } = status;
  const kept = bundles.kept(rollback?.to ?? activeBundle);
  if (kept === undefined || !isOwn(kept, deployment)) return undefined;
  return applied === undefined || applied.uid === kept.metadata.uid ? kept : undefined;
}

function unpackedBundle(
  deployment: BundleDeployment,
  name: string | undefined,
  bundles: Pick<OwnedBundleCache, 'ownedBy'>,
): Bundle | undefined {
  const bundle = ownBundle(deployment, name, bundles);
  const isHere = bundle?.metadata.deletionTimestamp === undefined;
  return isHere && bundle?.status?.phase === 'Unpacked' ? bundle : undefined;
}
