import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import { bundleCondition, bundleReason } from '../../api/v1alpha1/conditions.ts';
import type { EventSink } from '../contracts/event-sink.ts';
import { findCondition } from '../runtime/conditions.ts';

const failures: ReadonlySet<string> = new Set([
  bundleReason.unpackFailed,
  bundleReason.processingFinalizerFailed,
]);

/** Records an Event where the condition says something new. */
export function recordTransition(
  events: EventSink,
  { before, after }: { before: Bundle; after: Bundle },
): void {
  const old = findCondition(before.status?.conditions, bundleCondition.unpacked);
  const now = findCondition(after.status?.conditions, bundleCondition.unpacked);
  if (now === undefined || (now.reason === old?.reason && now.message === old.message)) return;
  const type = failures.has(now.reason) ? 'Warning' : 'Normal';
  events.event(after, { type, reason: now.reason, message: now.message });
}
