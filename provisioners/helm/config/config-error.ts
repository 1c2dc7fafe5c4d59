import { TerminalError } from '../../../core/sdk.ts';

/** A fault of spec.config, with what v0.16 began such messages with. */
export function configError(field: string, problem: string): TerminalError {
  return new TerminalError(`parse deployment config: spec.config.${field} ${problem}`);
}

/** What a value is, as a person would call it. */
export function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return value === '' ? 'empty' : 'a string';
  return typeof value === 'boolean' ? 'a boolean' : 'a number';
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
