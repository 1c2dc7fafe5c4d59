import { fail } from 'node:assert';
import { type BundleFiles, errorMessage } from '../../core/sdk.ts';
import { assertContent } from '../assert-content.ts';
import { givesContent, type HandlerName } from './given.ts';
import { notJson } from './not-json.ts';

/** Whether a handler returned what the contract promises; fails naming what does not fit. */
export function assertWellShaped(handler: HandlerName, result: unknown): void {
  if (givesContent(handler)) return assertContent(result as BundleFiles);
  if (!Array.isArray(result)) fail(`it returned ${shown(result)}, and is to return an array`);
  for (const [index, entry] of result.entries()) {
    if (handler === 'deployment') assertObject(entry, `object ${index}`);
    else assertReference(entry, `input ${index}`);
  }
}

function assertObject(entry: unknown, place: string): void {
  const wrong = notJson(entry, place);
  if (wrong !== undefined) fail(`${wrong}: objects are data that JSON can say`);
  const { apiVersion, kind, metadata } = fieldsOf(entry, place);
  assertText(apiVersion, `${place}: apiVersion`);
  assertText(kind, `${place}: kind`);
  assertText(fieldsOf(metadata, `${place}: metadata`)['name'], `${place}: metadata.name`);
}

function assertReference(entry: unknown, place: string): void {
  const { kind, name, key } = fieldsOf(entry, place);
  if (kind !== 'ConfigMap' && kind !== 'Secret') {
    fail(`${place}: kind is ${shown(kind)}, and is to be ConfigMap or Secret`);
  }
  assertText(name, `${place}: name`);
  assertText(key, `${place}: key`);
}

function fieldsOf(value: unknown, place: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  return fail(`${place} is ${shown(value)}, and is to be an object`);
}

function assertText(value: unknown, place: string): void {
  if (typeof value !== 'string' || value === '') {
    fail(`${place} is ${shown(value)}, and is to be a text that is not empty`);
  }
}

function shown(value: unknown): string {
  try {
    return typeof value === 'string' ? JSON.stringify(value) : String(value);
  } catch (error) {
    return `something that cannot be shown (${errorMessage(error)})`;
  }
}
