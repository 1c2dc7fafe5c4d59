import type { FlagValues } from './flag-values.ts';

/** A flag as pflag knows it. The kinds are those that opm has. */
export interface CobraFlag {
  readonly name: string;
  /** The letter of its short form. */
  readonly short?: string;
  readonly kind: 'bool' | 'string' | 'strings' | 'uint';
  /** As it would be typed. Nothing, `false` or `0` where absent. */
  readonly default?: string;
  readonly usage: string;
  readonly hidden?: true;
  /** What to use instead. */
  readonly deprecated?: string;
  readonly required?: true;
}

/** What a command is run with. */
export interface CobraCall {
  readonly args: readonly string[];
  readonly flags: FlagValues;
  /** The names of the program and of the commands that lead here. */
  readonly path: string;
  /** Aborted by an interrupt. */
  readonly signal: AbortSignal;
}

/** What is wrong with the number of arguments; undefined where nothing is. */
export type PositionalArgs = (args: readonly string[], commandPath: string) => string | undefined;

/** A command, as far as it is needed to show its help and to run it. */
export interface CobraCommand {
  /** Its name and arguments, as its usage line shows them. */
  readonly use: string;
  readonly long?: string;
  readonly example?: string;
  readonly deprecated?: string;
  /** Any arguments where absent. */
  readonly args?: PositionalArgs;
  readonly flags?: readonly CobraFlag[];
  /** Flags are arguments like others. */
  readonly keepsFlags?: true;
  /** Groups of flags of which only one may be set. */
  readonly exclusive?: readonly (readonly string[])[];
  /** Shows its help where absent. What it throws is printed with the usage, and ends the program with 1. */
  readonly run?: (call: CobraCall) => Promise<void>;
}

/** A command of the tree, as far as it is known before its code is loaded. */
export interface CobraRow {
  readonly name: string;
  /** As the list of commands shows it. */
  readonly short: string;
  /** Keeps it out of the list. */
  readonly hidden?: boolean;
  readonly load: () => Promise<CobraCommand>;
  readonly commands?: readonly CobraRow[];
}

/** A program: the first command, and the flags that all others have too. */
export interface CobraProgram extends CobraRow {
  readonly persistentFlags: readonly CobraFlag[];
}
