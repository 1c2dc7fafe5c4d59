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
import { isNoted, pinIn, type SourceTypes } from './fetch/pin.ts';

/** The statuses of a Bundle (docs/spec/bundle.md), one function each. */

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

/** Unpacked and Ready of a Bundle that is already unpacked; changes only Ready. */
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

/** `doing` is the slow work. */
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

/** Pending while core waits for something outside, otherwise Failing. */
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

/** A user makes an upload at any time: meanwhile core is neither reconciling nor stalled. */
function outlookOf(error: unknown): Pick<Outcome, 'ready' | 'outlook'> {
  if (error instanceof TerminalError) return { outlook: 'stalled' };
  const isUpload = error instanceof WaitingError && error.retry === 'on-change';
  return isUpload ? { ready: { reason: readyReason.awaitingUpload } } : { outlook: 'reconciling' };
}

/** The problem of the source. */
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
  /** Reason and message of Ready, if they differ from Unpacked. */
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
 * Withdraws missing content. A pin stays: once resolved, a Bundle never gets other content, even if
 * the source has changed when the cache is lost.
 */
function withoutContent(status: BundleStatus): BundleStatus {
  const { contentURL: _, ...rest } = status;
  return rest;
}

const failures: ReadonlySet<string> = new Set([
  bundleReason.unpackFailed,
  bundleReason.processingFinalizerFailed,
]);

/** An upload that has not arrived yet is not a failure. */
function isFailure(reason: string, { spec: { source } }: Bundle): boolean {
  if (reason === bundleReason.unpackPending) return source.type !== 'upload';
  return failures.has(reason);
}

/** Records an Event when the condition has news. */
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

/** Records that somebody else than core has written the pin of a Bundle. */
export function recordForgery(
  events: EventSink,
  { before, after, sources }: { before: Bundle; after: Bundle; sources: SourceTypes },
): void {
  const { resolvedSource } = before.status ?? {};
  const { source } = before.spec;
  const pin = pinIn(sources, after.status?.resolvedSource, source);
  if (resolvedSource === undefined || !isNoted(source, sources)) return;
  if (pin === undefined || pinIn(sources, resolvedSource, source) === pin) return;
  const message = `Another client changed status.resolvedSource. Core restored ${pin}, from which it unpacked this Bundle. Find out who may write bundles/status`;
  events.event(after, { type: 'Warning', reason: 'ResolvedSourceRestored', message });
}
