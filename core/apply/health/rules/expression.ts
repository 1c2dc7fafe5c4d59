import { Environment } from '@marcbachmann/cel-js';
import { errorMessage } from '../../../errors.ts';
import { estimateCost } from './cost-estimate.ts';

/** UTF-16 units; the API server takes no longer one. */
const maxLength = 4_096;
/** UTF-16 units of what an expression gives; a longer text is not read. */
const maxText = 1_000_000;

const environment = new Environment({
  enableOptionalTypes: true,
  limits: { maxAstNodes: 2_000, maxDepth: 64, maxListElements: 256, maxMapEntries: 256 },
}).registerVariable('self', 'map');

/** A CEL expression over one object. */
export interface Expression {
  /** What it is expected to cost at most, in Kubernetes' units for CEL. */
  readonly cost: number;
  /**
   * What it says of an object. Nothing bounds the time and memory that this takes: it is for worker
   * processes alone.
   * @throws Error with one sentence.
   */
  evaluate(self: object): unknown;
}

/**
 * Reads an expression and checks its types, in a time that its length bounds; nothing is evaluated.
 * @throws Error with one sentence where the text is no CEL expression over `self`.
 */
export function compileExpression(text: string): Expression {
  const parsed = parse(text);
  const cost = estimateCost(parsed.ast);
  const { valid, error } = parsed.check();
  if (!valid) throw new Error(firstLine(error));
  return {
    cost,
    evaluate(self) {
      try {
        return short(parsed({ self }));
      } catch (error) {
        throw new Error(firstLine(error), { cause: error });
      }
    },
  };
}

function short(value: unknown): unknown {
  if (typeof value !== 'string' || value.length <= maxText) return value;
  throw new Error(`gives a text of more than ${maxText} characters`);
}

function parse(text: string) {
  if (text.length > maxLength) throw new Error(`it has more than ${maxLength} characters`);
  try {
    // A copy each: it keeps which types it has compared.
    return environment.clone().parse(text);
  } catch (error) {
    throw new Error(firstLine(error), { cause: error });
  }
}

/** The lines after it show the expression and a mark below. */
function firstLine(error: unknown): string {
  return errorMessage(error).split('\n')[0] ?? '';
}
