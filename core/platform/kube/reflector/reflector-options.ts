import type { KubernetesObject } from '../../../../api/meta.ts';
import type { Logger } from '../../../contracts/logger.ts';
import type { Clock } from '../../clock.ts';
import type { KubeClient } from '../kube-client.ts';
import type { Resource } from '../resource.ts';

/** Receives the objects of a reflector; calls come in order and never overlap. */
export interface ReflectorSink<T extends KubernetesObject = KubernetesObject> {
  /** A list is about to be requested: later writes may be newer than the list. */
  listing?(): void;
  /**
   * The whole list, at the first sync and after each relist, with its resourceVersion. Objects that
   * are missing in it are deleted. An object that is older than before has gone back in time,
   * because the server's store was restored.
   */
  replace(items: readonly T[], resourceVersion: string): void;
  upsert(item: T): void;
  remove(item: T): void;
}

export interface ReflectorOptions<T extends KubernetesObject = KubernetesObject> {
  readonly client: Pick<KubeClient, 'list' | 'watch'>;
  readonly resource: Resource;
  /** Default: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Return objects with only their metadata. */
  readonly metadataOnly?: boolean | undefined;
  readonly sink: ReflectorSink<T>;
  /** Converts an object for the sink (default: removes managedFields). */
  readonly transform?: ((object: KubernetesObject) => T) | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Objects per request of a list (default: 500). */
  readonly pageSize?: number;
}
