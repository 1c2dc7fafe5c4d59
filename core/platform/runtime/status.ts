import { isDeepStrictEqual } from 'node:util';
import type { Condition, KubernetesObject } from '../../../api/meta.ts';
import { kstatusCondition as type } from '../../../api/v1alpha1/conditions.ts';
import { type Clock, metaTime } from '../clock.ts';

type ConditionUpdate = Omit<Condition, 'lastTransitionTime'>;

/** Maximum characters of a condition message (metav1.Condition). */
const maxMessageLength = 32_768;
const ellipsis = '… (cut)';

/**
 * The conditions with one of them set: lastTransitionTime changes only with the status, and the
 * order is that of the first appearance. Returns the same array when nothing changes.
 */
export function setCondition(
  conditions: readonly Condition[],
  update: ConditionUpdate,
  clock: Clock,
): readonly Condition[] {
  const message = conditionMessage(update.message);
  const current = conditions.find((condition) => condition.type === update.type);
  if (
    current?.status === update.status &&
    current.reason === update.reason &&
    current.message === message &&
    current.observedGeneration === update.observedGeneration
  ) {
    return conditions;
  }
  const lastTransitionTime =
    current?.status === update.status ? current.lastTransitionTime : timestamp(clock);
  const next = { ...update, message, lastTransitionTime };
  if (current === undefined) return [...conditions, next];
  return conditions.map((condition) => (condition === current ? next : condition));
}

export function findCondition(
  conditions: readonly Condition[] | undefined,
  type: string,
): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/**
 * A message fit for a status: within the schema's limit, without credentials in URLs, without
 * control characters, and without the local ephemeral port, which would change the status at every
 * attempt. Takes time linear in the limit, however long or odd the text is, because others write
 * much of it.
 */
export function conditionMessage(text: string): string {
  const clean = text
    .slice(0, 2 * maxMessageLength)
    .replaceAll(/(\b[a-z][a-z0-9+.-]{0,30}:\/\/)[^/\s?#]*@/gi, '$1')
    .replaceAll(/\b(Bearer|Basic) [A-Za-z0-9._~+/=-]{8,}/g, '$1 ***')
    .replaceAll(/(?:\[[0-9a-f:]{1,45}\]|\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}->/gi, '')
    .replaceAll(/ - Local \([^)]{0,200}\)/g, '')
    .replaceAll(controlCharacters, escaped);
  if (clean.length <= maxMessageLength) return clean;
  const end = maxMessageLength - ellipsis.length;
  // Must not end between the halves of a surrogate pair: the server refuses that as invalid UTF-8.
  const whole = isHighSurrogate(clean.charCodeAt(end - 1)) ? end - 1 : end;
  return clean.slice(0, whole) + ellipsis;
}

// All but tab and newline.
// oxlint-disable-next-line no-control-regex
const controlCharacters = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

function escaped(character: string): string {
  return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
}

/** The present time in metav1.Time's format, with whole seconds. */
export function timestamp(clock: Clock): string {
  return metaTime(clock.now());
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

/** Reason and message of the conditions Ready, Reconciling and Stalled, by the rules of kstatus. */
export interface Readiness {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  /**
   * Whether core continues by itself, or only after a change by a user; undefined when neither is
   * certain.
   */
  readonly outlook?: 'reconciling' | 'stalled' | undefined;
  /** The evaluated generation. */
  readonly observedGeneration: number | undefined;
}

/**
 * These conditions are a summary for a column of a table; another condition has the whole message.
 */
const maxLength = 1_024;

/** The conditions with these three set; Reconciling and Stalled exist only while they are True. */
export function withReadiness(
  conditions: readonly Condition[],
  { status, reason, message, outlook, observedGeneration }: Readiness,
  clock: Clock,
): readonly Condition[] {
  const about = { reason, message: inOneLine(message), observedGeneration };
  const unneeded = [type.reconciling, type.stalled].filter((each) => each !== outlookType(outlook));
  const kept = conditions.filter((condition) => !unneeded.some((each) => each === condition.type));
  const ready = setCondition(kept, { type: type.ready, status, ...about }, clock);
  const outlookOf = outlookType(outlook);
  if (outlookOf === undefined) return ready;
  return setCondition(ready, { type: outlookOf, status: 'True', ...about }, clock);
}

function outlookType(outlook: Readiness['outlook']): string | undefined {
  return outlook === undefined ? undefined : type[outlook];
}

/** Cleans the text before it cuts: half of a URL would keep its password. */
function inOneLine(message: string): string {
  const line = conditionMessage(message).replaceAll(/\n\s*/g, '; ');
  return line.length > maxLength ? `${line.slice(0, maxLength).toWellFormed()}… (cut)` : line;
}

interface JsonPatchOperation {
  readonly op: 'test' | 'add';
  readonly path: string;
  readonly value: unknown;
}

/**
 * A JSON patch that replaces the object's whole status by `status`, or undefined when it is equal.
 * It tests the UID, so that it fails for a recreated object. With `ifUnchanged` it conflicts with
 * every change of the object since it was read.
 */
export function statusPatch(
  object: KubernetesObject,
  status: object,
  { ifUnchanged = false } = {},
): readonly JsonPatchOperation[] | undefined {
  if (isDeepStrictEqual(withoutAbsent(object['status'] ?? {}), withoutAbsent(status))) {
    return undefined;
  }
  const { uid, resourceVersion } = object.metadata;
  return [
    { op: 'test', path: '/metadata/uid', value: uid },
    ...(ifUnchanged
      ? [{ op: 'add', path: '/metadata/resourceVersion', value: resourceVersion } as const]
      : []),
    { op: 'add', path: '/status', value: status },
  ];
}

/** `{a: undefined}` and `{}` are equal in JSON. */
function withoutAbsent(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
