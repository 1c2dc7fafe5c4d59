import { errorMessage } from '../../core/errors.ts';
import type { FieldPlace, SourceLines } from './source-lines.ts';

/** One problem of a bundle. */
export interface Problem {
  /** An error of the class itself prevents installation; a warning does not. */
  readonly severity: 'error' | 'warning';
  /** The other tool's check that found it; absent for errors of the class or the cluster. */
  readonly check?: string;
  /** Path in the bundle. */
  readonly file?: string;
  /** From 1. */
  readonly line?: number;
  readonly message: string;
  /** How to fix it. */
  readonly fix: string;
}

interface Place {
  readonly file: string;
  readonly fix: string;
}

/** The problem for an error of reading a file, with the line that its text names. */
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

/** The problem names the file already. */
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

/** In the format of compilers: `error: <file>:<line>: [<check>] <message>; <fix>`. */
export function problemLine({ severity, check, file, line, message, fix }: Problem): string {
  const place = file === undefined ? '' : `${file}${line === undefined ? '' : `:${line}`}: `;
  const label = check === undefined ? '' : `[${check}] `;
  // cel-go's errors show lines of the expression.
  const text = message.replaceAll(/\n \| .*/g, '');
  const sentence = text.replaceAll(/\s*\n\s*/g, ' ').replace(/\.$/, '');
  return `${severity}: ${place}${label}${sentence}; ${fix}`;
}

/** One result of a rule. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  /** Absent for the bundle as a whole. */
  readonly place?: FieldPlace;
  /** In the words of the tool that has the rule, if any. */
  readonly message: string;
  /** How to fix it. */
  readonly fix: string;
}

export type Found = Omit<Finding, 'severity'>;

export function error(found: Found): Finding {
  return { severity: 'error', ...found };
}

export function warning(found: Found): Finding {
  return { severity: 'warning', ...found };
}

/** The finding as a problem, with the line of its place. */
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

export function isError({ severity }: Pick<Problem, 'severity'>): boolean {
  return severity === 'error';
}

/** An error of the class, not of another tool. */
export function isRefusal({ severity, check }: Problem): boolean {
  return severity === 'error' && check === undefined;
}

/** Errors of the class first, then other errors, then warnings; each in the order of files. */
export function inOrder(problems: readonly Problem[]): readonly Problem[] {
  return problems.toSorted(
    (a, b) => rankOf(a) - rankOf(b) || placeText(a).localeCompare(placeText(b), 'en'),
  );
}

function rankOf(problem: Problem): number {
  if (isRefusal(problem)) return 0;
  return isError(problem) ? 1 : 2;
}

function placeText({ file = '', check = '', line = 0 }: Problem): string {
  return [file, check, line.toString().padStart(9, '0')].join(' ');
}
