import { deepStrictEqual } from 'node:assert';
import { parseJson, stringifyJson } from '../core/sdk.ts';
import { prefixed } from './prefixed.ts';

/** Compares as JSON, where the order of keys says nothing; what differs follows the sentence. */
export function assertEqual(actual: unknown, expected: unknown, sentence: string): void {
  try {
    deepStrictEqual(asJson(actual), asJson(expected));
  } catch (error) {
    throw prefixed(`${sentence}\n`, error);
  }
}

function asJson(value: unknown): unknown {
  return value === undefined ? undefined : parseJson(stringifyJson(value));
}
