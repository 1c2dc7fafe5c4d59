import type { KubernetesObject } from '../../api/meta.ts';

export interface ObjectEvent {
  readonly type: 'Normal' | 'Warning';
  /** One word in CamelCase. */
  readonly reason: string;
  readonly message: string;
}

/** Records Kubernetes Events; never fails and never waits. */
export interface EventSink {
  event(regarding: KubernetesObject, event: ObjectEvent): void;
}
