import type { KubernetesObject } from '../../../api/meta.ts';
import { systemClock } from '../../../core/platform/clock.ts';
import {
  type KubeClient,
  type ObjectKey,
  Reflector,
  type Resource,
} from '../../../core/platform/kube/index.ts';
import { silentLogger } from '../../helpers/silent-logger.ts';

export interface Watched {
  readonly client: KubeClient;
  readonly resource: Resource;
  readonly key: ObjectKey;
}

export interface Found {
  /** From the end of what was done; 0 where the object was as wanted before. */
  readonly milliseconds: number;
  readonly object: KubernetesObject;
}

/** Watches one object while something is done to it, until the object is as wanted. */
export async function timeUntil(
  { client, resource, key }: Watched,
  {
    done,
    wanted,
  }: {
    readonly done: () => Promise<unknown>;
    readonly wanted: (object: KubernetesObject) => boolean;
  },
  signal: AbortSignal,
): Promise<Found> {
  const found = Promise.withResolvers<{ at: number; object: KubernetesObject }>();
  // The watch may fail during the action; its error is thrown after the action.
  found.promise.catch(() => undefined);
  const life = new AbortController();
  let isDone = false;
  // Events before the API server's answer show the object as it was.
  const take = (object: KubernetesObject): void => {
    if (isDone && wanted(object)) found.resolve({ at: performance.now(), object });
  };
  const reflector = new Reflector({
    client,
    resource,
    namespace: key.namespace,
    fieldSelector: `metadata.name=${key.name}`,
    sink: { replace: (items) => items.forEach(take), upsert: take, remove: () => undefined },
    clock: systemClock,
    logger: silentLogger,
  });
  const ended = AbortSignal.any([life.signal, signal]);
  signal.addEventListener('abort', () => found.reject(signal.reason as Error), { once: true });
  const running = reflector.run(ended);
  try {
    await reflector.whenSynced(ended);
    isDone = true;
    await done();
    const since = performance.now();
    const { at, object } = await found.promise;
    return { milliseconds: Math.max(0, at - since), object };
  } finally {
    life.abort(new Error('seen'));
    await running;
  }
}
