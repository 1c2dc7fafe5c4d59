import { needsExactIntegers, parseJson } from '../../../api/json.ts';
import { type FromWorker, parseFromWorker } from './messages.ts';
import type { OutputAllowance } from './output-allowance.ts';

/** More than an object of three mebibytes has that anybody would write. */
const maxValues = 250_000;

/**
 * A message of a worker process. Numbers that a double cannot hold make parsing it ten times slower,
 * so that some megabytes of nothing but brackets would hold up the manager for seconds.
 * @throws Error where it is none, or has too many values to be read so.
 */
export function parseMessage(head: Buffer, allowance: OutputAllowance): FromWorker {
  const text = head.toString('utf8');
  if (needsExactIntegers(text)) allowance.values(countValues(parsed(text, JSON.parse)));
  return parseFromWorker(parsed(text, parseJson));
}

function parsed(text: string, parse: (text: string) => unknown): unknown {
  try {
    return parse(text);
  } catch (error) {
    // Its own message quotes what came, whatever that is.
    throw new Error('it is not JSON', { cause: error });
  }
}

/** @throws Error where there are more than a message may have. */
function countValues(root: unknown): number {
  const open: unknown[] = [root];
  let count = 0;
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== 'object' || value === null) continue;
    const values: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
    count += values.length;
    if (count > maxValues) {
      throw new Error(`it has long numbers among more than ${maxValues} values in one message`);
    }
    for (const inner of values) if (typeof inner === 'object') open.push(inner);
  }
  return count;
}
