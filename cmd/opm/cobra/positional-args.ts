import { goQuote } from '../../../api/go-quote.ts';
import type { PositionalArgs } from './command.ts';

/** For commands with subcommands, or without arguments. */
export const noArgs: PositionalArgs = ([first], path) =>
  first === undefined ? undefined : `unknown command ${goQuote(first)} for ${goQuote(path)}`;

export function exactArgs(count: number): PositionalArgs {
  return ({ length }) =>
    length === count ? undefined : `accepts ${count} arg(s), received ${length}`;
}

export function minimumArgs(count: number): PositionalArgs {
  return ({ length }) =>
    length >= count ? undefined : `requires at least ${count} arg(s), only received ${length}`;
}

export function maximumArgs(count: number): PositionalArgs {
  return ({ length }) =>
    length <= count ? undefined : `accepts at most ${count} arg(s), received ${length}`;
}

export function rangeArgs(least: number, most: number): PositionalArgs {
  return ({ length }) =>
    length >= least && length <= most
      ? undefined
      : `accepts between ${least} and ${most} arg(s), received ${length}`;
}
