/** Words that YAML 1.1 does not read as text. */
const words: ReadonlySet<string> = new Set(
  [
    'y Y yes Yes YES true True TRUE on On ON n N no No NO false False FALSE off Off OFF',
    '~ null Null NULL .nan .NaN .NAN .inf .Inf .INF +.inf +.Inf +.INF -.inf -.Inf -.INF',
  ].flatMap((line) => line.split(' ')),
);

/** Most texts: they need no quotes, and every YAML reader takes them as text. */
const simple = /^[A-EG-MP-SU-XZa-eg-mp-su-xz/][\w./@=+-]*$/;

/** Whether go-yaml reads the text without quotes as text. */
export function staysText(text: string): boolean {
  if (simple.test(text)) return true;
  if (text === '' || words.has(text)) return false;
  if (text.startsWith('.')) return !isFloat(text);
  return !/^[-+\d]/.test(text) || !(isNumber(text) || isTimestamp(text) || isBase60(text));
}

function isFloat(text: string): boolean {
  return /^\.\d+(?:[eE][-+]?\d+)?$/.test(text);
}

const integers = /^[-+]?(?:0[xX][\da-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|[1-9]\d*|0)$/;
const floats = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/;

function isNumber(text: string): boolean {
  const plain = text.replaceAll('_', '');
  if (integers.test(plain)) return isInRange(plain) || floats.test(plain);
  return floats.test(plain) && Number.isFinite(Number(plain));
}

/** True for signed or unsigned integers of 64 bits. */
function isInRange(text: string): boolean {
  const digits = text.replace(/^[-+]/, '').replace(/^0(?=[0-7])/, '0o');
  // BigInt takes minutes for the digits of a large text.
  if (digits.replace(/^0[xXbBoO]?0*/, '').length > 64) return false;
  return BigInt(digits) <= (text.startsWith('-') ? 2n ** 63n : 2n ** 64n - 1n);
}

const timestamps = [
  /^\d{4}-\d{1,2}-\d{1,2}[Tt]\d{1,2}:\d{1,2}:\d{1,2}(?:[.,]\d+)?(?:Z|[-+]\d\d:\d\d)$/,
  /^\d{4}-\d{1,2}-\d{1,2} \d{1,2}:\d{1,2}:\d{1,2}(?:[.,]\d+)?$/,
  /^\d{4}-\d{1,2}-\d{1,2}$/,
];

function isTimestamp(text: string): boolean {
  if (!timestamps.some((format) => format.test(text))) return false;
  const [date, time] = text.split(/[Tt ]/);
  return isDate(date ?? '') && (time === undefined || isTime(time));
}

function isDate(text: string): boolean {
  const [year, month, day] = text.split('-').map(Number);
  const made = new Date(Date.UTC(year ?? 0, (month ?? 0) - 1, day));
  return made.getUTCMonth() + 1 === month && made.getUTCDate() === day;
}

function isTime(text: string): boolean {
  const [hour, minute, second] = text.split(/[:.,Z+-]/).map(Number);
  return (hour ?? 24) < 24 && (minute ?? 60) < 60 && (second ?? 60) < 60;
}

/** Other readers parse 12:30 as a number. */
function isBase60(text: string): boolean {
  return /^[-+]?\d[\d_]*(?::[0-5]?\d)+(?:\.[\d_]*)?$/.test(text);
}
