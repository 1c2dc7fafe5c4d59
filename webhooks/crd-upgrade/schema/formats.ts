import { isIPv4, isIPv6 } from 'node:net';
import { isCreditCard, isISBN10, isISBN13 } from './check-digits.ts';
import { isDate, isDateTime, isDuration } from './time-formats.ts';

/** The formats of strings that the API server checks, without their dashes. */
export const formats: ReadonlyMap<string, (text: string) => boolean> = new Map([
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

/** Leading zeros are tolerated, as Go did once. */
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
