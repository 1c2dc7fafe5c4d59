import type { Condition, KubernetesObject } from '../../../api/meta.ts';
import {
  clusterExtensionReason,
  clusterExtensionCondition as ofExtension,
} from '../../../api/olm/v1/index.ts';
import { operatorCondition as ofOperator } from '../../../api/operators/v1alpha1/index.ts';
import { type EventRecorder, findCondition } from '../../../core/controller.ts';
import { dependenciesSatisfied, dependencyNotInstalled } from './dependency-condition.ts';

export type EventSink = Pick<EventRecorder, 'event'>;

interface News {
  readonly before: readonly Condition[];
  readonly after: readonly Condition[];
  /** A wait for content, which is not worth an Event; undefined for none. */
  readonly waiting: string | undefined;
}

type Severity = 'Normal' | 'Warning' | undefined;

const { retrying, blocked, invalidConfiguration, progressDeadlineExceeded } =
  clusterExtensionReason;
const troubles: readonly string[] = [
  retrying,
  blocked,
  invalidConfiguration,
  progressDeadlineExceeded,
];

/** Conditions whose news are worth an Event, with its type. */
const rules: Readonly<Record<string, (condition: Condition) => Severity>> = {
  [ofOperator.resolved]: ({ status }) => (status === 'True' ? 'Normal' : 'Warning'),
  [ofOperator.installed]: ({ status, reason }) => {
    if (status === 'True') return 'Normal';
    return reason === 'InstallationFailed' ? 'Warning' : undefined;
  },
  [ofExtension.progressing]: ({ reason }) => (troubles.includes(reason) ? 'Warning' : undefined),
  [ofExtension.deprecated]: ({ status }) => (status === 'True' ? 'Warning' : undefined),
  [dependenciesSatisfied]: ({ status, reason }) => {
    if (status !== 'False') return undefined;
    return reason === dependencyNotInstalled ? 'Normal' : 'Warning';
  },
};

/** Records an Event for each condition that has something new to say. */
export function recordNews(
  events: EventSink,
  object: KubernetesObject,
  { before, after, waiting }: News,
): void {
  for (const condition of after) {
    const old = findCondition(before, condition.type);
    const { type, status, reason, message } = condition;
    if (old?.status === status && old.reason === reason && old.message === message) continue;
    if (message === waiting) continue;
    const severity = Object.hasOwn(rules, type) ? rules[type]?.(condition) : undefined;
    if (severity !== undefined) {
      events.event(object, { type: severity, reason: wordOf(condition), message });
    }
  }
}

/** `Success` alone says nothing in a list of Events. */
function wordOf({ type, status, reason }: Condition): string {
  return status === 'True' && type !== ofExtension.progressing ? type : reason;
}
