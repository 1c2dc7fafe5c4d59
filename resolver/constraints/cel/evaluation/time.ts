import { Duration, failed, Timestamp } from './values.ts';

const second = 1_000_000_000n;
const largestDuration = 2n ** 63n - 1n;
/** Of the years 1 and 9999, in seconds since 1970. */
const firstSecond = -62_135_596_800n;
const lastSecond = 253_402_300_799n;

const units: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: second,
  m: 60n * second,
  h: 3_600n * second,
};

export function durationOf(nanoseconds: bigint): Duration | typeof failed {
  const isInRange = nanoseconds <= largestDuration && nanoseconds >= -largestDuration - 1n;
  return isInRange ? new Duration(nanoseconds) : failed;
}

export function timestampOf(nanoseconds: bigint, offset = 0): Timestamp | typeof failed {
  const seconds = floorDivide(nanoseconds, second);
  if (seconds < firstSecond || seconds > lastSecond) return failed;
  return new Timestamp(nanoseconds, offset);
}

const longestDuration = 200;

/** Reads a duration as Go does: `-1h30m0.5s`. */
export function parseDuration(text: string): Duration | typeof failed {
  if (text.length > longestDuration) return failed;
  const size = text.replace(/^[-+]/, '');
  if (size === '0') return new Duration(0n);
  const parts = [...size.matchAll(/(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/gy)];
  const read = parts.reduce((length, [part]) => length + part.length, 0);
  if (size === '' || read !== size.length || !parts.every(hasDigits)) return failed;
  const total = parts.reduce((sum, part) => sum + partOf(part), 0n);
  return durationOf(text.startsWith('-') ? -total : total);
}

function hasDigits([part]: RegExpExecArray): boolean {
  return /\d/.test(part);
}

function partOf([, whole = '', fraction = '', unit = '']: RegExpExecArray): bigint {
  const scale = units[unit] ?? 0n;
  return BigInt(whole) * scale + (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length);
}

/** As protobuf writes it: `5400s`. */
export function durationText({ nanoseconds }: Duration): string {
  const seconds = Number(nanoseconds / second) + Number(nanoseconds % second) / 1e9;
  const text = String(seconds);
  return `${text.includes('e') ? seconds.toFixed(9).replace(/0+$/, '') : text}s`;
}

const rfc3339 =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:[.,](\d+))?(Z|[-+]\d{2}:\d{2})$/;
const longestTimestamp = 100;

export function parseTimestamp(text: string): Timestamp | typeof failed {
  const match = rfc3339.exec(text.length > longestTimestamp ? '' : text);
  const offset = writtenOffset(match?.[8]);
  if (match === null || offset === undefined) return failed;
  const seconds = secondsOfDate(match.slice(1, 7).map(Number));
  if (seconds === undefined) return failed;
  const nanoseconds = BigInt((match[7] ?? '').padEnd(9, '0').slice(0, 9));
  return timestampOf(BigInt(seconds - offset) * second + nanoseconds, offset);
}

/** Since 1970; undefined for a day that does not exist. */
function secondsOfDate(parts: readonly number[]): number | undefined {
  const [year, month, day, hour, minute, seconds] = parts as DateParts;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  return date.getTime() / 1_000 + hour * 3_600 + minute * 60 + seconds;
}

type DateParts = readonly [number, number, number, number, number, number];

/** Of `Z`, or `-05:30`; undefined if there is no such offset. */
function writtenOffset(text = ''): number | undefined {
  if (text === 'Z') return 0;
  const [hours, minutes] = [Number(text.slice(1, 3)), Number(text.slice(4))];
  if (hours > 24 || minutes > 60) return undefined;
  return Number(`${text.charAt(0)}1`) * (hours * 3_600 + minutes * 60);
}

/** As RFC 3339 has it, in the zone of the text that it was read from. */
export function timestampText({ nanoseconds, offset }: Timestamp): string {
  const date = dateOf(nanoseconds, offset).toISOString().slice(0, 19);
  const rest = nanoseconds - floorDivide(nanoseconds, second) * second;
  const fraction = rest === 0n ? '' : `.${`${rest}`.padStart(9, '0').replace(/0+$/, '')}`;
  if (offset === 0) return `${date}${fraction}Z`;
  const minutes = Math.abs(offset) / 60;
  const zone = [Math.floor(minutes / 60), minutes % 60].map((part) => `${part}`.padStart(2, '0'));
  return `${date}${fraction}${offset < 0 ? '-' : '+'}${zone.join(':')}`;
}

export function secondsOf({ nanoseconds }: Timestamp): bigint {
  return floorDivide(nanoseconds, second);
}

const dateParts: Readonly<Record<string, (date: Date) => number>> = {
  getFullYear: (date) => date.getUTCFullYear(),
  getMonth: (date) => date.getUTCMonth(),
  getDayOfYear: (date) => {
    const start = new Date(date);
    start.setUTCMonth(0, 1);
    return Math.round((date.getTime() - start.getTime()) / 86_400_000);
  },
  getDayOfMonth: (date) => date.getUTCDate() - 1,
  getDate: (date) => date.getUTCDate(),
  getDayOfWeek: (date) => date.getUTCDay(),
  getHours: (date) => date.getUTCHours(),
  getMinutes: (date) => date.getUTCMinutes(),
  getSeconds: (date) => date.getUTCSeconds(),
  getMilliseconds: (date) => date.getUTCMilliseconds(),
};

/** A part of a timestamp in a time zone: `UTC`, a name of the IANA database, or `-05:30`. */
export function timestampPart(
  name: string,
  { nanoseconds }: Timestamp,
  zone: string,
): number | typeof failed {
  const offset = offsetOf(zone, nanoseconds);
  const part = dateParts[name];
  if (offset === undefined || part === undefined) return failed;
  return part(dateOf(nanoseconds, offset));
}

const durationUnits: Readonly<Record<string, bigint>> = {
  getHours: 3_600n * second,
  getMinutes: 60n * second,
  getSeconds: second,
  getMilliseconds: 1_000_000n,
};

export function durationPart(name: string, { nanoseconds }: Duration): bigint | typeof failed {
  const unit = durationUnits[name];
  return unit === undefined ? failed : nanoseconds / unit;
}

/** Seconds east of UTC; undefined for an unknown zone. */
function offsetOf(zone: string, nanoseconds: bigint): number | undefined {
  if (zone === '' || zone === 'UTC') return 0;
  const [, sign = '', hours, minutes] = /^([-+]?)(\d{1,2}):([-+]?\d{1,2})$/.exec(zone) ?? [];
  if (hours !== undefined) {
    const size = Number(hours) * 3_600 + Number(minutes) * 60;
    return sign === '-' ? -size : size;
  }
  return zone.length > 100 || zone.includes(':') ? undefined : namedOffset(zone, nanoseconds);
}

function namedOffset(timeZone: string, nanoseconds: bigint): number | undefined {
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
    const parts = format.formatToParts(dateOf(nanoseconds, 0));
    const text = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const [, sign = '+', ...numbers] = /GMT([-+])(\d+):(\d+)(?::(\d+))?/.exec(text) ?? [];
    const [hours = 0, minutes = 0, seconds = 0] = numbers.map((part: string | undefined) =>
      Number(part ?? 0),
    );
    return Number(`${sign}1`) * (hours * 3_600 + minutes * 60 + seconds);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function dateOf(nanoseconds: bigint, offset: number): Date {
  return new Date(Number(floorDivide(nanoseconds, 1_000_000n)) + offset * 1_000);
}

function floorDivide(number: bigint, by: bigint): bigint {
  const quotient = number / by;
  return number < 0n && quotient * by !== number ? quotient - 1n : quotient;
}
