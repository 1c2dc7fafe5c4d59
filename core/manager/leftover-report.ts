import type { EventSink } from '../contracts/event-sink.ts';
import { errorMessage } from '../errors.ts';
import type { ContentMetrics } from '../platform/observe/index.ts';
import type { OnLeftover } from '../store/index.ts';
import type { ManagerSettings } from './settings.ts';

/**
 * Tells the log, a metric, and Events of the system namespace what could not be removed: there is
 * no other object left to tell it of.
 */
export function createLeftoverReport(
  { logger, systemNamespace }: Pick<ManagerSettings, 'logger' | 'systemNamespace'>,
  parts: { readonly events: EventSink; readonly metrics: Pick<ContentMetrics, 'leftOver'> },
): OnLeftover {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: systemNamespace } };
  return (error) => {
    const cause = errorMessage(error);
    logger.warn({ error: cause }, 'a file that is not needed any more cannot be removed');
    parts.metrics.leftOver();
    const message = `a file that is not needed any more cannot be removed: ${cause}. Remove it by hand`;
    parts.events.event(namespace, { type: 'Warning', reason: 'CleanupFailed', message });
  };
}
