import { TerminalError } from '../../errors.ts';

/** @throws TerminalError where a handler's result are no files. */
export function checkFilesShape(result: unknown, callee: string): void {
  const problem = problemOf(result);
  if (problem === undefined) return;
  throw new TerminalError(`${callee} returned no files: ${problem}`);
}

function problemOf(result: unknown): string | undefined {
  if (typeof result !== 'object' || result === null) return 'it is no object';
  const { files, directories } = result as { files?: unknown; directories?: unknown };
  if (!(files instanceof Map)) return '"files" is no Map of paths and bytes';
  if (!(directories instanceof Set)) return '"directories" is no Set of paths';
  for (const [path, content] of files as ReadonlyMap<unknown, unknown>) {
    if (typeof path !== 'string') return 'a path in "files" is no text';
    if (!(content instanceof Uint8Array)) {
      return `the content of "${path.slice(0, 200)}" is no Uint8Array`;
    }
  }
  for (const path of directories as ReadonlySet<unknown>) {
    if (typeof path !== 'string') return 'a path in "directories" is no text';
  }
  return undefined;
}
