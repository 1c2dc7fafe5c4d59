import { isIPv4, isIPv6 } from 'node:net';
import type { JsonSchema } from './json-schema.ts';
import { typesOf } from './subject.ts';

const numericFormats: ReadonlyMap<string, readonly string[]> = new Map([
  ['integer', ['int32', 'int64']],
  ['number', ['float', 'double']],
]);

/** The schema's format if the API server checks it for the schema's type, otherwise empty. */
export function supportedFormat(schema: JsonSchema): string {
  const { format = '' } = schema;
  const types = typesOf(schema);
  const [type = ''] = types.length === 1 ? types : [];
  const isSupported =
    type === '' || type === 'string'
      ? formats.has(normalized(format))
      : numericFormats.get(type)?.includes(format) === true;
  return isSupported ? format : '';
}

/** Whether a string has a format; true for a format that does not apply to strings. */
export function hasFormat(text: string, format: string): boolean {
  return formats.get(normalized(format))?.(text) ?? true;
}

/** `date-time` and `datetime` are equal. */
function normalized(format: string): string {
  return format.replaceAll('-', '');
}

/** The formats of strings that the API server checks, without their dashes. */
const formats: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['bsonobjectid', matches(/^[0-9a-f]{24}$/i)],
  ['byte', matches(/^(?:[A-Z0-9+/]{4})*(?:[A-Z0-9+/]{2}==|[A-Z0-9+/]{3}=|[A-Z0-9+/]{4})$/i)],
  ['cidr', isCIDR],
  ['creditcard', isCreditCard],
  ['date', isDate],
  ['datetime', isDateTime],
  ['duration', isDuration],
  ['email', isEmail],
  ['hexcolor', matches(/^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i)],
  ['hostname', isHostname],
  ['ipv4', isIPv4Sloppy],
  ['ipv6', (text) => isIPv6(text) && !text.includes('%')],
  ['isbn', (text) => isISBN10(text) || isISBN13(text)],
  ['isbn10', isISBN10],
  ['isbn13', isISBN13],
  ['mac', isMAC],
  ['password', () => true],
  ['rgbcolor', isRGBColor],
  ['ssn', matches(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/)],
  ['uri', isRequestURI],
  ['uuid', uuid('[0-9a-f]', '[0-9a-f]')],
  ['uuid3', uuid('3', '[0-9a-f]')],
  ['uuid4', uuid('4', '[89ab]')],
  ['uuid5', uuid('5', '[89ab]')],
]);

function matches(pattern: RegExp): (text: string) => boolean {
  return (text) => pattern.test(text);
}

function uuid(version: string, variant: string): (text: string) => boolean {
  const parts = ['[0-9a-f]{8}', '[0-9a-f]{4}', `${version}[0-9a-f]{3}`, `${variant}[0-9a-f]{3}`];
  return matches(new RegExp(`^${parts.join('-?')}-?[0-9a-f]{12}$`, 'i'));
}

/** Allows leading zeros, as Go once did. */
function isIPv4Sloppy(text: string): boolean {
  if (text.includes(':')) return text.includes('.') && isIPv6(text);
  return isIPv4(text.replace(/(^|\.)0+(?=\d)/g, '$1'));
}

function isCIDR(text: string): boolean {
  const [address = '', bits = '', ...rest] = text.split('/');
  if (rest.length > 0 || !/^\d{1,3}$/.test(bits)) return false;
  if (isIPv6(address)) return Number(bits) <= 128 && !address.includes('%');
  return !address.includes(':') && isIPv4Sloppy(address) && Number(bits) <= 32;
}

function isMAC(text: string): boolean {
  const octets = [6, 8, 20].map((count) => count - 1);
  return octets.some((rest) => {
    const paired = new RegExp(
      `^[0-9a-f]{2}(?:(?::[0-9a-f]{2}){${rest}}|(?:-[0-9a-f]{2}){${rest}})$`,
      'i',
    );
    const dotted = new RegExp(`^[0-9a-f]{4}(?:\\.[0-9a-f]{4}){${(rest - 1) / 2}}$`, 'i');
    return paired.test(text) || dotted.test(text);
  });
}

function isRGBColor(text: string): boolean {
  const part = String.raw`\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*`;
  return new RegExp(`^rgb\\(${part},${part},${part}\\)$`).test(text);
}

/** As Go's url.ParseRequestURI: an absolute URI, or a path. */
function isRequestURI(text: string): boolean {
  if (/\p{Cc}/u.test(text)) return false;
  if (text === '*' || text.startsWith('/')) return !/%(?![0-9a-f]{2})/i.test(text);
  if (!/^[a-z][a-z0-9+.-]*:/i.test(text)) return false;
  const [path = ''] = text.split('?', 1);
  if (!/^[^:]+:\/\//.test(path)) return true;
  return !/%(?![0-9a-f]{2})/i.test(path) && !/^[^:]+:\/\/[^/]*[ <>"]/.test(path);
}

function isHostname(text: string): boolean {
  const letter = String.raw`[a-zA-Z0-9\p{S}\p{L}]`;
  const single = `${letter}(?:-?${letter}{0,62})?`;
  const label = `${letter}(?:[-a-zA-Z0-9\\p{S}\\p{L}]{0,61}${letter})?\\.`;
  const isName = new RegExp(`^(?:${single}|(?:${label})+[a-zA-Z\\p{L}]{2,63})$`, 'u').test(text);
  const bytes = Buffer.byteLength(text);
  return isName && bytes <= 255 && text.split('.').every((part) => Buffer.byteLength(part) <= 63);
}

/** An address with or without a name: `a@b.c` or `A B <a@b.c>`. */
function isEmail(text: string): boolean {
  const address = /^(?:[^<>]*<([^<>]+)>|([^<>]+))$/.exec(text.trim());
  const spec = address?.[1] ?? address?.[2] ?? '';
  return /^(?:[^\s@()<>,;:\\"[\].]+(?:\.[^\s@()<>,;:\\"[\].]+)*|"(?:[^"\\]|\\.)*")@(?:[^\s@()<>,;:\\"[\].]+(?:\.[^\s@()<>,;:\\"[\].]+)*|\[[^\]]*\])$/.test(
    spec,
  );
}

function isDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  if (year === undefined) return false;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  // JavaScript turns a day that does not exist into one of the next month.
  return date.toISOString().slice(0, 10) === text;
}

/** RFC 3339's date-time, with at most 59 seconds and any character before a fraction. */
function isDateTime(text: string): boolean {
  const [date = '', time] = text.toLowerCase().split('t');
  if (time === undefined || !isDate(date)) return false;
  const parts = /^(\d{2}):(\d{2}):(\d{2})(?:.\d+)?(?:z|[+-]\d{2}:\d{2})$/.exec(time);
  if (parts === null) return false;
  const [, hours = '', minutes = '', seconds = ''] = parts;
  return hours <= '23' && minutes <= '59' && seconds <= '59';
}

const goDuration = /^[-+]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const unitNames = ['ns', 'us', 'µs', 'ms', 's', 'm', 'h', 'hr', 'd', 'w', 'wk'];
const unitPrefixes = ['nano', 'micro', 'milli', 'sec', 'min', 'hour', 'day', 'week'];

/** In the format of Go's time.ParseDuration, or with any part such as `3 days`. */
function isDuration(text: string): boolean {
  if (goDuration.test(text)) return true;
  return [...text.matchAll(/(?<!\d)\d+\s*([A-Za-zµ]+)/g)].some(([, unit = '']) => {
    const name = unit.toLowerCase();
    return unitNames.includes(name) || unitPrefixes.some((prefix) => name.startsWith(prefix));
  });
}

/** Numbers that end in a check digit. Blanks and dashes do not count. */

function isISBN10(text: string): boolean {
  const digits = withoutBlanks(text);
  if (!/^[0-9]{9}[0-9X]$/.test(digits)) return false;
  const sum = Array.from(digits).reduce((sum, digit, index) => {
    return sum + (index + 1) * (digit === 'X' ? 10 : Number(digit));
  }, 0);
  return sum % 11 === 0;
}

function isISBN13(text: string): boolean {
  const digits = withoutBlanks(text);
  if (!/^[0-9]{13}$/.test(digits)) return false;
  const sum = Array.from(digits).reduce(
    (sum, digit, index) => sum + Number(digit) * (index % 2 ? 3 : 1),
    0,
  );
  return sum % 10 === 0;
}

const issuers = [
  '4[0-9]{12}(?:[0-9]{3})?',
  '5[1-5][0-9]{14}',
  '(?:222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}',
  '6(?:011|5[0-9][0-9])[0-9]{12}',
  '3[47][0-9]{13}',
  '3(?:0[0-5]|[68][0-9])[0-9]{11}',
  '(?:2131|1800|35[0-9]{3})[0-9]{11}',
  '6[27][0-9]{14}',
];
const cardNumber = new RegExp(`^(?:${issuers.join('|')})$`);

function isCreditCard(text: string): boolean {
  const digits = withoutBlanks(text);
  if (!cardNumber.test(digits)) return false;
  const sum = Array.from(digits)
    .toReversed()
    .reduce((sum, digit, index) => {
      const value = Number(digit) * (index % 2 === 1 ? 2 : 1);
      return sum + (value > 9 ? value - 9 : value);
    }, 0);
  return sum % 10 === 0;
}

function withoutBlanks(text: string): string {
  return text.replace(/[\s-]+/g, '');
}
