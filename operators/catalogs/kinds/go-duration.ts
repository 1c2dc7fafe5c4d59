const units: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

const syntax = /^[+-]?(?:0|(?:(?:\d{1,18}\.?\d{0,18}|\.\d{1,18})(?:ns|us|µs|μs|ms|s|m|h)){1,16})$/;

/** Milliseconds of any duration that Go's time.ParseDuration reads; undefined for another text. */
export function goDuration(text: string): number | undefined {
  if (!syntax.test(text)) return undefined;
  let sum = 0;
  for (const [, amount, unit = ''] of text.matchAll(/([\d.]+)(ns|us|µs|μs|ms|s|m|h)/g)) {
    sum += Number(amount) * (units[unit] ?? 0);
  }
  return text.startsWith('-') ? -sum : sum;
}
