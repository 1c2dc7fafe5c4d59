import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** A test as docs name it: `path` "name". */
export interface NamedTest {
  readonly path: string;
  readonly name: string;
}

const reference = /`([^`"]+\.test\.ts)` "([^"]+)"/g;

export function namedTests(text: string): readonly NamedTest[] {
  return [...text.matchAll(reference)].map(([, path = '', name = '']) => ({ path, name }));
}

/** Whether a text names tests and nothing else, one after the other. */
export function namesTestsOnly(text: string): boolean {
  return /^(; )*$/.test(text.replaceAll(reference, ''));
}

/** The source of a test, in which regular expressions are as good as texts; empty where it is gone. */
export function sourceOf(path: string): string {
  const file = join(root, path);
  return existsSync(file) ? readFileSync(file, 'utf8').replaceAll('\\', '') : '';
}

export function isGone({ path, name }: NamedTest): boolean {
  return !sourceOf(path).includes(name);
}
