import { errorMessage } from '../../core/errors.ts';
import type { FieldPlace, SourceLines } from './source-lines.ts';

/** One thing that is wrong with a bundle. */
export interface Problem {
  /** Of the class itself, an error keeps the bundle from being installed; a warning may surprise. */
  readonly severity: 'error' | 'warning';
  /** Which of other tools' checks found it; absent where the class or the cluster would say it. */
  readonly check?: string;
  /** Path in the bundle. */
  readonly file?: string;
  /** From 1. */
  readonly line?: number;
  readonly message: string;
  /** The way out. */
  readonly fix: string;
}

interface Place {
  readonly file: string;
  readonly fix: string;
}

/** What was thrown while a file was read; the place in it comes from the text. */
export function readingProblem(error: unknown, { file, fix }: Place): Problem {
  const message = withoutPath(errorMessage(error), file);
  const line = /\bline (\d+)\b/.exec(message)?.[1];
  return {
    severity: 'error',
    file,
    ...(line === undefined ? {} : { line: Number(line) }),
    message,
    fix,
  };
}

/** The file is named in front of the message already. */
function withoutPath(message: string, file: string): string {
  const name = file.slice(file.lastIndexOf('/') + 1);
  for (const prefix of [
    `error parsing ${file}: `,
    `unable to decode "${file}": `,
    `read "${name}": `,
    `${file}: `,
  ]) {
    if (message.startsWith(prefix)) return message.slice(prefix.length);
  }
  return message;
}

/** As compilers write it: `error: <file>:<line>: [<check>] <message>; <way out>`. */
export function problemLine({ severity, check, file, line, message, fix }: Problem): string {
  const place = file === undefined ? '' : `${file}${line === undefined ? '' : `:${line}`}: `;
  const label = check === undefined ? '' : `[${check}] `;
  const sentence = message.replaceAll(/\s*\n\s*/g, ' ').replace(/\.$/, '');
  return `${severity}: ${place}${label}${sentence}; ${fix}`;
}

/** One thing that a rule has found. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  /** What it is about. Absent for the bundle as such. */
  readonly place?: FieldPlace;
  /** In the words of the tool whose rule it is, where there is one. */
  readonly message: string;
  /** The way out. */
  readonly fix: string;
}

export type Found = Omit<Finding, 'severity'>;

export function error(found: Found): Finding {
  return { severity: 'error', ...found };
}

export function warning(found: Found): Finding {
  return { severity: 'warning', ...found };
}

/** The finding with the line that its place is on. */
export function problemOf({ severity, place, message, fix }: Finding, lines: SourceLines): Problem {
  const line = place && lines.lineOf(place);
  return {
    severity,
    ...(place === undefined ? {} : { file: place.file }),
    ...(line === undefined ? {} : { line }),
    message,
    fix,
  };
}
