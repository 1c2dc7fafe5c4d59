import type { FlagValues } from './flag-values.ts';

/** A flag of pflag, with the kinds that opm uses. */
export interface CobraFlag {
  readonly name: string;
  /** The letter of its short form. */
  readonly short?: string;
  readonly kind: 'bool' | 'string' | 'strings' | 'uint';
  /** As typed on the command line. Defaults to the empty string, `false` or `0`. */
  readonly default?: string;
  readonly usage: string;
  readonly hidden?: true;
  /** What to use instead. */
  readonly deprecated?: string;
  readonly required?: true;
}

/** Arguments and flags of one run of a command. */
export interface CobraCall {
  readonly args: readonly string[];
  readonly flags: FlagValues;
  /** Names of the program and of the commands down to this one. */
  readonly path: string;
  /** Aborted by an interrupt. */
  readonly signal: AbortSignal;
}

/** The error for a wrong number of arguments; undefined for a valid number. */
export type PositionalArgs = (args: readonly string[], commandPath: string) => string | undefined;

/** The part of a command that its help and its run need. */
export interface CobraCommand {
  /** Its name and arguments, as its usage line shows them. */
  readonly use: string;
  readonly long?: string;
  readonly example?: string;
  readonly deprecated?: string;
  /** Defaults to any arguments. */
  readonly args?: PositionalArgs;
  readonly flags?: readonly CobraFlag[];
  /** Passes flags to the command as plain arguments. */
  readonly keepsFlags?: true;
  /** Groups of flags of which only one may be set. */
  readonly exclusive?: readonly (readonly string[])[];
  /** Without it, the command prints its help. An error is printed with the usage; exit code 1. */
  readonly run?: (call: CobraCall) => Promise<void>;
}

/** A command of the tree: metadata that is available before its code is loaded. */
export interface CobraRow {
  readonly name: string;
  /** Summary in the list of commands. */
  readonly short: string;
  /** Omits the command from the list. */
  readonly hidden?: boolean;
  readonly load: () => Promise<CobraCommand>;
  readonly commands?: readonly CobraRow[];
}

/** A program: the root command, and the flags that all commands inherit. */
export interface CobraProgram extends CobraRow {
  readonly persistentFlags: readonly CobraFlag[];
}
