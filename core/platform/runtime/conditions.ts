import type { Condition } from '../../../api/meta.ts';
import type { Clock } from '../clock.ts';

export type ConditionUpdate = Omit<Condition, 'lastTransitionTime'>;

/** The API server refuses a condition message of more than 32768 characters (metav1.Condition). */
const maxMessageLength = 32_768;
const ellipsis = '… (cut)';

/**
 * The conditions with one of them set: lastTransitionTime moves only when the status flips, and
 * order is that of first appearance. Returns the same array where nothing changes.
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
 * A message fit for a status: below the schema's limit, without credentials in URLs, without
 * control characters that a terminal would obey, and without the client's own ephemeral address,
 * which would change the status at every try. Takes time linear in the limit, however long or odd
 * the text: much of it is written by strangers.
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
  // Never ends between the halves of a surrogate pair: the server would refuse it as invalid UTF-8.
  const whole = isHighSurrogate(clean.charCodeAt(end - 1)) ? end - 1 : end;
  return clean.slice(0, whole) + ellipsis;
}

// All but tab and newline.
// oxlint-disable-next-line no-control-regex
const controlCharacters = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

function escaped(character: string): string {
  return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
}

/** Now, as metav1.Time has it: whole seconds. */
export function timestamp(clock: Clock): string {
  return new Date(clock.now()).toISOString().replace(/\.\d{3}Z$/, 'Z');
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
