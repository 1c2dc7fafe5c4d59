import { createContext, Script } from 'node:vm';

const call = new Script('task()');
const holder: { task?: () => unknown } = {};
const context = createContext(holder);

/** Far more than any honest object and schema need. */
const defaultLimit = 1_000;

/**
 * Runs a task that takes no turns, and throws where it takes longer than the limit (milliseconds):
 * what a CRD says of one value can multiply with what it says of others. Nesting deeper than the
 * stack throws too.
 */
export function bounded<T>(task: () => T, limit = defaultLimit): T {
  let result: { readonly value: T } | undefined;
  holder.task = () => {
    result = { value: task() };
  };
  try {
    call.runInContext(context, { timeout: limit });
  } catch (error) {
    throw explained(error, limit);
  } finally {
    delete holder.task;
  }
  if (result === undefined) throw new Error('the task has not run');
  return result.value;
}

function explained(error: unknown, limit: number): unknown {
  if (error instanceof RangeError) return new Error('it is nested too deeply', { cause: error });
  // It is an Error of the context, not of ours.
  const { code } = Object(error) as { readonly code?: unknown };
  const isTimeout = code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
  return isTimeout ? new Error(`it takes longer than ${limit} ms`, { cause: error }) : error;
}
