import type { KubernetesObject } from '../api/meta.ts';
import type { Logger } from '../core/contracts/logger.ts';
import type { Clock } from '../core/platform/clock.ts';
import { type KubeClient, Reflector } from '../core/platform/kube/index.ts';
import type { ObjectFollower } from '../webhooks/index.ts';

/** Follows one object by a reflector of its name. */
export function createObjectFollower(options: {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
}): ObjectFollower {
  return {
    async follow({ resource, key }, onChange, signal) {
      const sink = {
        replace: ([object]: readonly KubernetesObject[]) => onChange(object),
        upsert: (object: KubernetesObject) => onChange(object),
        remove: () => onChange(undefined),
      };
      const reflector = new Reflector({
        ...options,
        resource,
        namespace: key.namespace,
        fieldSelector: `metadata.name=${key.name}`,
        sink,
      });
      await reflector.run(signal);
    },
  };
}
