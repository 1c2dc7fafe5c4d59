import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import { bundleCondition, bundleReason } from '../../api/v1alpha1/conditions.ts';
import type { EventSink } from '../contracts/event-sink.ts';
import { findCondition } from '../platform/runtime/index.ts';
import { isNoted } from './known-pin.ts';
import { pinIn, type SourceTypes } from './pin.ts';

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
