import { setImmediate } from 'node:timers/promises';
import { liveObject, type ObjectKey, type Resource } from '../../platform/kube/index.ts';
import type { DesiredObject } from '../objects/desired.ts';
import { forEachLimit } from '../objects/for-each-limit.ts';
import { inKindOrder } from '../objects/order.ts';
import {
  ObjectForecast,
  type ObjectForecastOptions,
  type ObjectStates,
} from './object-forecast.ts';

const concurrentRequests = 8;

interface ForecastRequest extends ObjectForecastOptions {
  /** What may not be as wanted. */
  readonly pending: readonly DesiredObject[];
  /** What would be deleted. */
  readonly superfluous: readonly ForecastObject[];
}

/** An object that there is, or will be. */
interface ForecastObject {
  readonly resource: Resource;
  readonly key: ObjectKey;
}

/** What would become of one object. */
export interface ForeseenObject extends ForecastObject, ObjectStates {
  /** Undefined for one that would be deleted. */
  readonly desired: DesiredObject | undefined;
}

interface ObjectForecasts<T> {
  /** In the order in which kinds are applied; deletions last. */
  readonly changes: readonly T[];
  /** Of those that were pending. */
  readonly unchanged: number;
  /** Why objects could not be applied. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * Foresees what applying would change, by dry runs: nothing is written. `show` makes of each object
 * what is kept of it, undefined where it stays as it is: whole objects would be too much to keep.
 * @throws Error where the API server cannot tell now.
 */
export async function forecastObjects<T>(
  request: ForecastRequest,
  show: (object: ForeseenObject) => T | undefined,
): Promise<ObjectForecasts<T>> {
  const forecast = new ObjectForecast(request);
  const ordered = inKindOrder(request.pending).flat();
  const shown = new Map<DesiredObject, T>();
  const problems = new Map<DesiredObject, string>();
  await forEachLimit(ordered, concurrentRequests, async (desired) => {
    const { resource, key } = desired;
    const outcome = await forecast.of(desired);
    if ('problem' in outcome) {
      problems.set(desired, outcome.problem);
      return;
    }
    // Comparing large objects takes its time: others must get their turn.
    await setImmediate();
    const change = show({ resource, key, desired, ...outcome });
    if (change !== undefined) shown.set(desired, change);
  });
  const deletions = await forecastDeletions(request, show);
  const changes = ordered.flatMap((desired) => shown.get(desired) ?? []);
  return {
    changes: [...changes, ...deletions],
    unchanged: ordered.length - shown.size - problems.size,
    problems: ordered.flatMap((desired) => problems.get(desired) ?? []),
    warnings: forecast.warnings,
  };
}

async function forecastDeletions<T>(
  { client, superfluous, signal }: ForecastRequest,
  show: (object: ForeseenObject) => T | undefined,
): Promise<readonly T[]> {
  const shown = new Map<ForecastObject, T>();
  await forEachLimit(superfluous, concurrentRequests, async (entry) => {
    const { resource, key } = entry;
    // The inventory keeps less than the whole.
    const before = await liveObject(client, { resource, key }, signal);
    if (before === undefined) return;
    const change = show({ resource, key, desired: undefined, before, after: undefined });
    if (change !== undefined) shown.set(entry, change);
  });
  return superfluous.flatMap((entry) => shown.get(entry) ?? []);
}
