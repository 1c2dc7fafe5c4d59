import { isIP } from 'node:net';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../../api/duration.ts';

/** Parsers of flag values; each throws the sentence that commander prints. */

export function positiveInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) {
    throw new InvalidArgumentError('It must be a whole number of at least 1.');
  }
  return value;
}

const longest = 24 * 3_600_000;

/** A flag for a duration, in milliseconds; its help shows the notation. */
export function durationOption(flags: string, description: string, byDefault?: string): Option {
  const option = new Option(
    `${flags} <duration>`,
    `${description}, such as 90s, 5m or 1h30m, up to 24h`,
  );
  option.argParser(duration);
  return byDefault === undefined ? option : option.default(duration(byDefault), byDefault);
}

/** A Go duration such as `90s` or `1m30s`, in whole milliseconds. */
export function duration(text: string): number {
  const value = parseDuration(text);
  if (value === undefined) {
    throw new InvalidArgumentError('It must be a duration such as 30s or 1m30s.');
  }
  if (value < 1 || value > longest) throw new InvalidArgumentError('It must be from 1ms to 24h.');
  return value;
}

export function httpUrl(text: string): string {
  const protocol = URL.parse(text)?.protocol;
  if (protocol === 'https:' || protocol === 'http:') return text;
  throw new InvalidArgumentError('It must be a URL such as https://host:port.');
}

export function collect(value: string, values: readonly string[]): readonly string[] {
  return [...values, ...value.split(',').filter((item) => item !== '')];
}

export function collectUrls(value: string, values: readonly string[]): readonly string[] {
  return collect(value, values).map(httpUrl);
}

/** Hosts of a certificate: clients know other names only by their form in ASCII. */
export function collectHosts(value: string, values: readonly string[]): readonly string[] {
  return collect(value, values).map((host) => {
    if (isIP(host) !== 0 || /^[-\w]+(?:\.[-\w]+)*$/.test(host)) return host;
    throw new InvalidArgumentError(
      `"${host}" must be an IP address, or a DNS name in ASCII such as xn--bcher-kva.example.`,
    );
  });
}

/** Parses a bool as Go does; undefined for anything else. */
export function parseBoolean(text: string): boolean | undefined {
  if (/^(?:1|t|T|true|True|TRUE)$/.test(text)) return true;
  return /^(?:0|f|F|false|False|FALSE)$/.test(text) ? false : undefined;
}

/** A flag in the notation of Go's pflag: `--name`, `--name=true` or `--name=false`. */
export function booleanFlag(name: string, description: string): Option {
  return new Option(`--${name} [bool]`, description).default(false).argParser((text: string) => {
    const value = parseBoolean(text);
    if (value === undefined) throw new InvalidArgumentError('It must be true or false.');
    return value;
  });
}

/** A repeatable flag; its help says so instead of `(default: [])`. */
export function listFlag<T>(
  flags: string,
  description: string,
  parse: (value: string, values: readonly T[]) => readonly T[],
): Option {
  return new Option(flags, `${description}; repeatable`).argParser(parse).default([], 'none');
}

/** A flag of upstream’s programs without effect here, so that manifests for them keep working. */
export function withoutEffect(flags: string, reason: string): Option {
  return new Option(flags, `No effect: ${reason}`);
}

/** Hides flags in the help of a command that always refuses them, each with its reason. */
export function hideRefusedFlags(command: Command, ...refused: readonly string[]): Command {
  for (const option of command.options) {
    if (refused.includes(option.long ?? '')) option.hideHelp();
  }
  return command;
}
