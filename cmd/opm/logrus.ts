import { goQuote } from '../../api/go-quote.ts';

/** A line in the format of logrus without a terminal; fields sorted by name. */
export function logrusLine(
  level: 'debug' | 'info' | 'warning' | 'error' | 'fatal',
  message: string,
  fields: Readonly<Record<string, string>> = {},
): string {
  const sorted = Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const pairs = [['time', localTime(new Date())], ['level', level], ['msg', message], ...sorted];
  return pairs.map(([name, value = '']) => `${name}=${quotedIfNeeded(value)}`).join(' ');
}

function quotedIfNeeded(value: string): string {
  return /^[\w.\-/@^+]*$/.test(value) ? value : goQuote(value);
}

/** RFC 3339, in the local time zone. */
function localTime(now: Date): string {
  const minutes = -now.getTimezoneOffset();
  const local = new Date(now.getTime() + minutes * 60_000).toISOString().slice(0, 19);
  if (minutes === 0) return `${local}Z`;
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `${local}${minutes < 0 ? '-' : '+'}${twoDigits(hours)}:${twoDigits(rest)}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
