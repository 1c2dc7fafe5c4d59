import type { KubernetesObject } from '../../api/meta.ts';

interface RecordedEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** Keeps what would become Events. */
export class EventList {
  readonly list: RecordedEvent[] = [];

  event(_: KubernetesObject, event: RecordedEvent): void {
    this.list.push(event);
  }

  /** `<type> <reason>: <message>` of each since the last call. */
  taken(): string[] {
    return this.list.splice(0).map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
  }
}
