import { createContext, Script } from 'node:vm';

const script = new Script('call()');
const timeoutCode = 'ERR_SCRIPT_EXECUTION_TIMEOUT';

/**
 * Calls a synchronous function and ends it after that many milliseconds, whatever it is at, loops
 * and regular expressions included: V8 stops everything that runs inside of a script with a limit.
 * @throws Error after that time, and whatever the function throws.
 */
export function boundedCall<T>(call: () => T, milliseconds: number): T {
  try {
    return script.runInContext(createContext({ call }), { timeout: milliseconds }) as T;
  } catch (error) {
    if ((error as { code?: unknown }).code !== timeoutCode) throw error;
    throw new Error(`takes longer than ${milliseconds} ms`, { cause: error });
  }
}
