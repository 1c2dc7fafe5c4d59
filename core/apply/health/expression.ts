import { Environment } from '@marcbachmann/cel-js';
import { errorMessage } from '../../errors.ts';
import { boundedCall } from './bounded-call.ts';

/** A look at one object; what takes longer would hold up all others. */
const evaluationLimit = 50;
/** UTF-16 units; a longer text is not looked at: expressions put half a gigabyte together in no time. */
const maxText = 1_000_000;

const environment = new Environment({
  enableOptionalTypes: true,
  limits: { maxAstNodes: 2_000, maxDepth: 64, maxListElements: 256, maxMapEntries: 256 },
}).registerVariable('self', 'map');

/** A CEL expression over one object. */
export interface Expression {
  /**
   * What it says of an object, in at most 50 ms.
   * @throws Error with one sentence. One that took too long is not tried again.
   */
  evaluate(self: object): unknown;
}

/** @throws Error with one sentence where the text is no CEL expression over `self`. */
export function compileExpression(text: string): Expression {
  const parsed = parse(text);
  const { valid, error } = parsed.check();
  if (!valid) throw new Error(firstLine(error));
  let exhausted: Error | undefined;
  return {
    evaluate(self) {
      if (exhausted !== undefined) throw exhausted;
      try {
        return short(boundedCall(() => parsed({ self }), evaluationLimit));
      } catch (error) {
        const failure = new Error(firstLine(error));
        if (error instanceof Error && error.cause !== undefined) exhausted = failure;
        throw failure;
      }
    },
  };
}

function short(value: unknown): unknown {
  if (typeof value !== 'string' || value.length <= maxText) return value;
  throw new Error(`gives a text of more than ${maxText} characters`);
}

function parse(text: string) {
  try {
    return environment.parse(text);
  } catch (error) {
    throw new Error(firstLine(error), { cause: error });
  }
}

/** The lines after it show the expression and a mark below. */
function firstLine(error: unknown): string {
  return errorMessage(error).split('\n')[0] ?? '';
}
