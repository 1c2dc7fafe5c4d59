import { setTimeout as delay } from 'node:timers/promises';
import { type Bounds, defaultBounds, type FuzzTarget, Violation } from './fuzz-target.ts';

/** Maximum characters of a message besides the input, which it may quote. */
const longestMessage = 8_192;
/** Milliseconds after which a waiting target counts as endless, also on a busy machine. */
const patience = 60_000;
const prototypes = [Object, Array, Function, String, Number, Map, Promise].map(
  ({ prototype }) => prototype as object,
);
const untouched = prototypes.map((prototype) => new Set(Reflect.ownKeys(prototype)));

/** The problem of a target's handling of an input; undefined without one. */
export async function judge(target: FuzzTarget, input: Uint8Array): Promise<string | undefined> {
  const { time } = boundsOf(target);
  const before = process.cpuUsage();
  const problem = await outcome(target, input);
  const { user, system } = process.cpuUsage(before);
  if (problem !== undefined) return problem;
  const taken = (user + system) / 1_000;
  if (taken > time) return `takes more than ${time} ms of processor time`;
  return hasPrototypesOfBefore() ? undefined : 'changes a prototype';
}

export function boundsOf({ bounds }: FuzzTarget): Bounds {
  return { ...defaultBounds, ...bounds };
}

/** Signature of a defect: equal for all inputs that show it, as far as messages and stacks tell. */
export function signatureOf(problem: string): string {
  return problem
    .split('\n', 1)
    .join()
    .replaceAll(/"(?:[^"\\]|\\.)*"|'[^']*'|`[^`]*`/g, '"…"')
    .replaceAll(/\d+/g, '0')
    .slice(0, 120);
}

async function outcome(target: FuzzTarget, input: Uint8Array): Promise<string | undefined> {
  const over = new AbortController();
  const timer = delay(patience, 'never ends', { signal: over.signal }).catch(() => undefined);
  const read = async (): Promise<undefined> => {
    await target.read(input, over.signal);
  };
  try {
    return await Promise.race([read(), timer]);
  } catch (error) {
    return problemOf(target, input, error);
  } finally {
    over.abort(new Error('the input was judged'));
  }
}

function problemOf(target: FuzzTarget, input: Uint8Array, error: unknown): string | undefined {
  const { refusals, lineBreaks } = target;
  const { messagePerByte } = boundsOf(target);
  if (error instanceof Violation) return error.message;
  if (!(error instanceof Error)) return `throws ${typeof error}, which is not an Error`;
  if (!refusals.some((refusal) => error.constructor === refusal)) {
    return `throws ${error.constructor.name}: ${error.message}`;
  }
  const message =
    lineBreaks === undefined ? error.message : error.message.replaceAll(lineBreaks, ' ');
  return messageProblem(message, longestMessage + input.byteLength * messagePerByte);
}

function messageProblem(message: string, longest: number): string | undefined {
  if (message === '') return 'refuses without a message';
  // oxlint-disable-next-line no-control-regex -- what it looks for
  const control = /[\u0000-\u001f\u007f]/.exec(message);
  if (control !== null) {
    const shown = JSON.stringify(message.slice(Math.max(0, control.index - 60), control.index + 1));
    return `refuses with a message that has a control character in it: ${shown}`;
  }
  if (message.length > longest) {
    return `refuses with a message of more than ${longest} characters: ${message.slice(0, 80)}`;
  }
  return undefined;
}

/** Removes additions to prototypes, so that the next input is not blamed for them. */
function hasPrototypesOfBefore(): boolean {
  const added = prototypes.flatMap((prototype, index) =>
    Reflect.ownKeys(prototype)
      .filter((key) => untouched[index]?.has(key) !== true)
      .map((key) => Reflect.deleteProperty(prototype, key)),
  );
  return added.length === 0;
}
