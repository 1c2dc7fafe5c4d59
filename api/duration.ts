const units: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/** The format of a Go duration such as `90s` or `1m30s` in a Kubernetes object. */
export const durationPattern = /^(\d{1,9}(\.\d{1,9})?(ms|s|m|h)){1,4}$/;

const plain = /^(\d+(\.\d+)?(ms|s|m|h))+$/;

/** Whole milliseconds of a Go duration of hours to milliseconds; undefined for an invalid text. */
export function parseDuration(text: string): number | undefined {
  return plain.test(text) ? Math.round(sumOf(text)) : undefined;
}

const any = /^[+-]?(?:0|(?:(?:\d{1,18}\.?\d{0,18}|\.\d{1,18})(?:ns|us|µs|μs|ms|s|m|h)){1,16})$/;

/** Milliseconds of any duration that Go's time.ParseDuration reads; undefined for another text. */
export function parseGoDuration(text: string): number | undefined {
  if (!any.test(text)) return undefined;
  return text.startsWith('-') ? -sumOf(text) : sumOf(text);
}

function sumOf(text: string): number {
  const parts = text.matchAll(/([\d.]+)(ns|us|µs|μs|ms|s|m|h)/g);
  return [...parts].reduce(
    (sum, [, amount, unit = '']) => sum + Number(amount) * (units[unit] ?? 0),
    0,
  );
}
