import type { Arbitrary } from 'fast-check';

/** A parser to attack: its inputs, and the allowed results. */
export interface FuzzTarget {
  /** In kebab-case: the argument of `npm run fuzz`, and the folder of its corpus. */
  readonly name: string;
  /** Valid and odd inputs to mutate. */
  readonly seeds: readonly Input[];
  /** Words of the format, which mutations insert. */
  readonly words?: readonly string[];
  /** Inputs of the format made from nothing. */
  readonly made?: Arbitrary<Input>;
  /**
   * Reads one input. What it throws must be one of `refusals`.
   * @throws Violation where what was read is not what it should be
   */
  read(input: Uint8Array, signal: AbortSignal): unknown;
  /** Classes of the errors that it may throw, none of their subclasses. */
  readonly refusals: readonly ErrorClass[];
  /** The line breaks of its own that a refusal has: those of a list of problems. */
  readonly lineBreaks?: RegExp;
  /** Per input; defaults to that of all targets. */
  readonly bounds?: Partial<Bounds>;
}

export type Input = Uint8Array | string;

// Constructors of any signature: they are compared, never called.
type ErrorClass = abstract new (...args: never[]) => Error;

export interface Bounds {
  /** Milliseconds of processor time. */
  readonly time: number;
  /** MiB that the process may take beyond what it has when it begins. */
  readonly memory: number;
  /** Characters of a message for each byte of the input, which it may quote. */
  readonly messagePerByte: number;
}

/** Inputs are at most some 100 KiB: what takes longer or more grows faster than they do. */
export const defaultBounds: Bounds = { time: 2_000, memory: 400, messagePerByte: 1 };

/** A parser has returned a wrong result. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

export function bytesOf(input: Input): Uint8Array {
  return typeof input === 'string' ? Buffer.from(input) : input;
}

export function textOf(input: Uint8Array): string {
  return Buffer.from(input.buffer, input.byteOffset, input.byteLength).toString('utf8');
}

/** One input as a stream, in two chunks: where they meet is inside of something. */
export async function* streamOf(input: Uint8Array): AsyncGenerator<Uint8Array> {
  const middle = input.byteLength >> 1;
  if (middle > 0) yield input.subarray(0, middle);
  if (middle < input.byteLength) yield input.subarray(middle);
}
