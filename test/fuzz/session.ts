import fc from 'fast-check';
import type { FuzzTarget } from './fuzz-target.ts';
import { judge, signatureOf } from './judge.ts';
import { minimised } from './minimise.ts';
import { inputsOf } from './mutations.ts';

export interface Finding {
  readonly problem: string;
  readonly input: Uint8Array;
}

export interface SessionOptions {
  /** Milliseconds. */
  readonly time: number;
  readonly seed: number;
  /** Signatures of known problems to ignore. */
  readonly known: ReadonlySet<string>;
  /** Maximum problems; the session then ends. */
  readonly maxFindings: number;
  /** Before each input is read. */
  onInput(input: Uint8Array): void;
  onFinding(finding: Finding): void;
}

/** Inputs that are tried with one seed; afterwards comes the next one. */
const round = 2_000;
const triesToMinimise = 2_000;

/** Attacks a target until the time is over; returns one shrunk input for each problem. */
export async function fuzz(target: FuzzTarget, options: SessionOptions): Promise<void> {
  const end = performance.now() + options.time;
  const known = new Set(options.known);
  const inputs = inputsOf(target);
  const newProblem = async (input: Uint8Array): Promise<string | undefined> => {
    options.onInput(input);
    const problem = await judge(target, input);
    return problem === undefined || known.has(signatureOf(problem)) ? undefined : problem;
  };
  let left = options.maxFindings;
  for (let seed = options.seed; left > 0 && performance.now() < end; seed += 1) {
    let problem: string | undefined;
    const property = fc.asyncProperty(inputs, async (input) => {
      const found = await newProblem(input);
      // Shrinking keeps to the first one; another one has its turn in a later round.
      if (found === undefined || (problem !== undefined && !isSame(found, problem))) return;
      problem = found;
      throw new Error(found);
    });
    const interruptAfterTimeLimit = Math.max(1, end - performance.now());
    const result = await fc.check(property, { seed, numRuns: round, interruptAfterTimeLimit });
    const [shrunk] = result.counterexample ?? [];
    if (shrunk === undefined || problem === undefined) continue;
    const fails = async (input: Uint8Array): Promise<boolean> => {
      // A slow input would be shrunk for hours.
      if (performance.now() >= end) return false;
      const found = await newProblem(input);
      return found !== undefined && isSame(found, problem ?? '');
    };
    const input = await minimised(shrunk, fails, triesToMinimise);
    known.add(signatureOf(problem));
    left -= 1;
    options.onFinding({ problem, input });
  }
}

function isSame(a: string, b: string): boolean {
  return signatureOf(a) === signatureOf(b);
}
