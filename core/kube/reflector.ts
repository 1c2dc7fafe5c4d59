import type { KubernetesObject } from '../../api/meta.ts';

/** Receives what a reflector sees; calls come in order and never overlap. */
export interface ReflectorSink<T extends KubernetesObject = KubernetesObject> {
  /** The whole list, at the first sync and after each relist: what is absent is gone. */
  replace(items: readonly T[]): void;
  upsert(item: T): void;
  remove(item: T): void;
}
