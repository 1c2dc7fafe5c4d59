import type { BundleSource, BundleStatus } from '../../api/v1alpha1/bundle.ts';
import { bundleCondition, bundleReason } from '../../api/v1alpha1/conditions.ts';
import type { Clock } from '../clock.ts';
import { errorMessage, WaitingError } from '../errors.ts';
import { setCondition } from '../runtime/conditions.ts';

/** The statuses of a Bundle (docs/spec/bundle.md), one function for each. */

export function unpacked(
  status: BundleStatus,
  content: { source: BundleSource; contentURL: string },
  clock: Clock,
): BundleStatus {
  return {
    ...withCondition(
      status,
      {
        status: 'True',
        reason: bundleReason.unpackSuccessful,
        message: `Successfully unpacked the ${content.source.type} Bundle`,
      },
      clock,
    ),
    phase: 'Unpacked',
    resolvedSource: content.source,
    contentURL: content.contentURL,
  };
}

export function unpacking(status: BundleStatus, clock: Clock): BundleStatus {
  return {
    ...withoutContent(status),
    ...withCondition(
      withoutContent(status),
      { status: 'False', reason: bundleReason.unpacking, message: '' },
      clock,
    ),
    phase: 'Unpacking',
  };
}

/** Pending where something outside is awaited, Failing otherwise. */
export function notUnpacked(
  status: BundleStatus,
  failure: { error: unknown; prefix: string },
  clock: Clock,
): BundleStatus {
  const waiting = failure.error instanceof WaitingError;
  const text = errorMessage(failure.error);
  return {
    ...withCondition(
      withoutContent(status),
      {
        status: 'False',
        reason: waiting ? bundleReason.unpackPending : bundleReason.unpackFailed,
        message: waiting ? text : failure.prefix + text,
      },
      clock,
    ),
    phase: waiting ? 'Pending' : 'Failing',
  };
}

/** What the source has against it. */
export function fetchFailed(status: BundleStatus, error: unknown, clock: Clock): BundleStatus {
  return notUnpacked(status, { error, prefix: 'source bundle content: ' }, clock);
}

export function finalizerFailed(
  status: BundleStatus,
  failure: { error: unknown; finalizer: string },
  clock: Clock,
): BundleStatus {
  return {
    ...withCondition(
      withoutContent(status),
      {
        status: 'Unknown',
        reason: bundleReason.processingFinalizerFailed,
        message: `finalizer "${failure.finalizer}" failed: ${errorMessage(failure.error)}`,
      },
      clock,
    ),
    phase: 'Failing',
  };
}

function withCondition(
  status: BundleStatus,
  update: { status: 'True' | 'False' | 'Unknown'; reason: string; message: string },
  clock: Clock,
): BundleStatus {
  const type = bundleCondition.unpacked;
  return {
    ...status,
    conditions: [...setCondition(status.conditions ?? [], { type, ...update }, clock)],
  };
}

/**
 * Content that is not there is not offered. A pin stays: once resolved, a Bundle never becomes
 * other content, even when the source has moved on by the time the cache is lost.
 */
function withoutContent(status: BundleStatus): BundleStatus {
  const { contentURL: _, ...rest } = status;
  return rest;
}
