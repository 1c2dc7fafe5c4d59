import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import { errorMessage } from '../../errors.ts';
import { deniedText } from './thrown.ts';

/** What a module exports as its default; an error says in a sentence why it cannot be loaded. */
export async function loadModule(module: string): Promise<unknown> {
  try {
    return ((await import(module)) as { readonly default?: unknown }).default;
  } catch (error) {
    throw new Error(`cannot load ${module}: ${reasonOf(error, module)}`, { cause: error });
  }
}

function reasonOf(error: unknown, module: string): string {
  const { code } = Object(error) as { code?: unknown };
  if (code === 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING') {
    return 'it is TypeScript inside node_modules, which Node does not run: have the package bring JavaScript, or name the file where it lies outside';
  }
  return (
    deniedText(error) ?? syntaxText(error, module) ?? `${errorMessage(error)}${placeOf(error)}`
  );
}

/** Node says where a file is wrong in the first line of the stack alone, before the message. */
function placeOf(error: unknown): string {
  const stack = error instanceof Error ? error.stack : undefined;
  const [, file, line] = /^(?:file:\/\/)?(\/\S+):(\d+)\n/.exec(stack ?? '') ?? [];
  return file === undefined ? '' : ` (line ${line} of ${file})`;
}

/** Of JavaScript Node does not say where it is wrong, and what it reads TypeScript with does. */
function syntaxText(error: unknown, module: string): string | undefined {
  if (!(error instanceof SyntaxError) || placeOf(error) !== '') return undefined;
  try {
    stripTypeScriptTypes(readFileSync(fileURLToPath(module), 'utf8'));
  } catch (parsed) {
    const line = /^\S*:(\d+)\n/.exec((parsed as Error).stack ?? '')?.[1];
    if (line === undefined) return undefined;
    return `${errorMessage(parsed)} (line ${line} of ${fileURLToPath(module)})`;
  }
  return undefined;
}
