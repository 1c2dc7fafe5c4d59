import type { Bundle, BundleSource, BundleStatus } from '../../api/v1alpha1/bundle.ts';
import { bundleCondition, bundleReason, readyReason } from '../../api/v1alpha1/conditions.ts';
import type { EventSink } from '../contracts/event-sink.ts';
import { errorMessage, TerminalError, WaitingError } from '../errors.ts';
import type { Clock } from '../platform/clock.ts';
import {
  findCondition,
  type Readiness,
  setCondition,
  withReadiness,
} from '../platform/runtime/index.ts';
import { isNoted, pinIn, type SourceTypes } from './pin.ts';

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

/** Unpacked and Ready of one that is unpacked already: others than Ready stay as they were written. */
export function stillUnpacked(
  status: BundleStatus,
  contentURL: string,
  clock: Clock,
): BundleStatus {
  const { reason, message } = findCondition(status.conditions, bundleCondition.unpacked) ?? {
    reason: bundleReason.unpackSuccessful,
    message: '',
  };
  return { ...withReady(status, { status: 'True', reason, message }, clock), contentURL };
}

/** `doing` is what takes so long. */
export function unpacking(status: BundleStatus, doing: string, clock: Clock): BundleStatus {
  return {
    ...withCondition(
      withoutContent(status),
      {
        status: 'False',
        reason: bundleReason.unpacking,
        message: '',
        outlook: 'reconciling',
        ready: { message: doing },
      },
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
        ...outlookOf(failure.error),
      },
      clock,
    ),
    phase: waiting ? 'Pending' : 'Failing',
  };
}

/** An upload is made by somebody, in their own time: neither is core at work on it, nor is it stuck. */
function outlookOf(error: unknown): Pick<Outcome, 'ready' | 'outlook'> {
  if (error instanceof TerminalError) return { outlook: 'stalled' };
  const isUpload = error instanceof WaitingError && error.retry === 'on-change';
  return isUpload ? { ready: { reason: readyReason.awaitingUpload } } : { outlook: 'reconciling' };
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
        outlook: 'reconciling',
      },
      clock,
    ),
    phase: 'Failing',
  };
}

interface Outcome extends Pick<Readiness, 'status' | 'reason' | 'message' | 'outlook'> {
  /** What Ready says otherwise than Unpacked. */
  readonly ready?: Partial<Pick<Readiness, 'reason' | 'message'>>;
}

function withCondition(status: BundleStatus, outcome: Outcome, clock: Clock): BundleStatus {
  const { outlook, ready, ...update } = outcome;
  const unpackedUpdate = { type: bundleCondition.unpacked, ...update };
  const conditions = [...setCondition(status.conditions ?? [], unpackedUpdate, clock)];
  return withReady({ ...status, conditions }, { ...update, outlook, ...ready }, clock);
}

function withReady(
  status: BundleStatus,
  outcome: Omit<Readiness, 'observedGeneration'>,
  clock: Clock,
): BundleStatus {
  const { conditions = [], observedGeneration } = status;
  const readiness = { ...outcome, observedGeneration };
  return { ...status, conditions: [...withReadiness(conditions, readiness, clock)] };
}

/**
 * Content that is not there is not offered. A pin stays: once resolved, a Bundle never becomes
 * other content, even when the source has moved on by the time the cache is lost.
 */
function withoutContent(status: BundleStatus): BundleStatus {
  const { contentURL: _, ...rest } = status;
  return rest;
}

const failures: ReadonlySet<string> = new Set([
  bundleReason.unpackFailed,
  bundleReason.processingFinalizerFailed,
]);

/** Of an upload it is no failure that it has not come yet. */
function isFailure(reason: string, { spec: { source } }: Bundle): boolean {
  if (reason === bundleReason.unpackPending) return source.type !== 'upload';
  return failures.has(reason);
}

/** Records an Event where the condition says something new. */
export function recordTransition(
  events: EventSink,
  { before, after }: { before: Bundle; after: Bundle },
): void {
  const old = findCondition(before.status?.conditions, bundleCondition.unpacked);
  const now = findCondition(after.status?.conditions, bundleCondition.unpacked);
  if (now === undefined || (now.reason === old?.reason && now.message === old.message)) return;
  const type = isFailure(now.reason, after) ? 'Warning' : 'Normal';
  events.event(after, { type, reason: now.reason, message: now.message });
}

/** Says that somebody else than core has written what a Bundle is unpacked from. */
export function recordForgery(
  events: EventSink,
  { before, after, sources }: { before: Bundle; after: Bundle; sources: SourceTypes },
): void {
  const { resolvedSource } = before.status ?? {};
  const { source } = before.spec;
  const pin = pinIn(sources, after.status?.resolvedSource, source);
  if (resolvedSource === undefined || !isNoted(source, sources)) return;
  if (pin === undefined || pinIn(sources, resolvedSource, source) === pin) return;
  const message = `status.resolvedSource was not what this Bundle was unpacked from, ${pin}, and core has put it right: find out who else may write bundles/status`;
  events.event(after, { type: 'Warning', reason: 'ResolvedSourceRestored', message });
}
