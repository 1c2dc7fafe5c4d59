import { InvalidArgumentError, Option } from 'commander';

/** Parsers of flag values; each refuses with the sentence that commander prints. */

export function positiveInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) {
    throw new InvalidArgumentError('It must be a whole number of at least 1.');
  }
  return value;
}

const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** A Go duration such as `90s` or `1m30s`, in milliseconds. */
export function duration(text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) {
    throw new InvalidArgumentError('It must be a duration such as 30s or 1m30s.');
  }
  return parts.reduce((sum, [, amount, unit]) => {
    return sum + Number(amount) * units[unit as keyof typeof units];
  }, 0);
}

export function collect(value: string, values: readonly string[]): readonly string[] {
  return [...values, ...value.split(',').filter((item) => item !== '')];
}

/** A flag as Go's pflag has them: `--name`, `--name=true` or `--name=false`. */
export function booleanFlag(name: string, description: string): Option {
  return new Option(`--${name} [bool]`, description)
    .preset('true')
    .default(false)
    .argParser((text: string) => {
      if (text === 'true') return true;
      if (text === 'false') return false;
      throw new InvalidArgumentError('It must be true or false.');
    });
}

/** A v0.16 flag that is accepted so that old manifests start, and does nothing. */
export function withoutEffect(flags: string, reason: string): Option {
  return new Option(flags, `no effect: ${reason}`);
}
