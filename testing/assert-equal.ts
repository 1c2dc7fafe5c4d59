import { AssertionError, deepStrictEqual } from 'node:assert';
import { parseJson, stringifyJson } from '../core/sdk.ts';

/** Compares as JSON, where the order of keys says nothing; what differs follows the sentence. */
export function assertEqual(actual: unknown, expected: unknown, sentence: string): void {
  try {
    deepStrictEqual(asJson(actual), asJson(expected));
  } catch (error) {
    if (error instanceof AssertionError) error.message = `${sentence}\n${error.message}`;
    throw error;
  }
}

function asJson(value: unknown): unknown {
  return value === undefined ? undefined : parseJson(stringifyJson(value));
}
