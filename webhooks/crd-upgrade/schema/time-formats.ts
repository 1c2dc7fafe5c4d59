export function isDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  if (year === undefined) return false;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  // A day that does not exist becomes one of the next month.
  return date.toISOString().slice(0, 10) === text;
}

/** RFC 3339's date-time, where seconds are at most 59 and any one character begins a fraction. */
export function isDateTime(text: string): boolean {
  const [date = '', time] = text.toLowerCase().split('t');
  if (time === undefined || !isDate(date)) return false;
  const parts = /^(\d{2}):(\d{2}):(\d{2})(?:.\d+)?(?:z|[+-]\d{2}:\d{2})$/.exec(time);
  if (parts === null) return false;
  const [, hours = '', minutes = '', seconds = ''] = parts;
  return hours <= '23' && minutes <= '59' && seconds <= '59';
}

const goDuration = /^[-+]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const unitNames = ['ns', 'us', 'µs', 'ms', 's', 'm', 'h', 'hr', 'd', 'w', 'wk'];
const unitPrefixes = ['nano', 'micro', 'milli', 'sec', 'min', 'hour', 'day', 'week'];

/** As Go's time.ParseDuration reads it, or with any part such as `3 days` in it. */
export function isDuration(text: string): boolean {
  if (goDuration.test(text)) return true;
  return [...text.matchAll(/\d+\s*([A-Za-zµ]+)/g)].some(([, unit = '']) => {
    const name = unit.toLowerCase();
    return unitNames.includes(name) || unitPrefixes.some((prefix) => name.startsWith(prefix));
  });
}
