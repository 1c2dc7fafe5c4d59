import { bundleDeploymentReason } from '../../api/v1alpha1/conditions.ts';
import { errorMessage, TerminalError } from '../errors.ts';
import type { BundleDeploymentDependencies } from './dependencies.ts';
import type { BundleDeploymentState } from './state.ts';
import { notInstalled } from './status.ts';

/**
 * Tells in the status why the target could not be brought out; returns what to throw. A refusal is
 * tried again: what stood in its way may be removed without our seeing it.
 */
export function installFailure(
  state: BundleDeploymentState,
  error: unknown,
  { clock, reportHealth }: Pick<BundleDeploymentDependencies, 'clock' | 'reportHealth'>,
): Error {
  const message = errorMessage(error);
  const reason = (error instanceof TerminalError && error.reason) || failureReason(state);
  state.status = notInstalled(state.status, { reason, message, reportHealth }, clock);
  return new Error(message, { cause: error });
}

/** What has failed where nothing else says so. */
export function failureReason({ status }: Pick<BundleDeploymentState, 'status'>): string {
  return status.activeBundle === undefined
    ? bundleDeploymentReason.installFailed
    : bundleDeploymentReason.upgradeFailed;
}
