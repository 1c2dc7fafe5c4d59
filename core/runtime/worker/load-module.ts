import { errorMessage } from '../../errors.ts';

/** What a module exports as its default; an error says in a sentence why it cannot be loaded. */
export async function loadModule(module: string): Promise<unknown> {
  try {
    return ((await import(module)) as { readonly default?: unknown }).default;
  } catch (error) {
    throw new Error(`cannot load ${module}: ${reasonOf(error)}`, { cause: error });
  }
}

function reasonOf(error: unknown): string {
  const { code, resource } = Object(error) as { code?: unknown; resource?: unknown };
  switch (code) {
    case 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING':
      return 'it is TypeScript inside node_modules, which Node does not run: have the package bring JavaScript, or name the file where it lies outside';
    case 'ERR_ACCESS_DENIED':
      return `it needs what a class may not have (${String(resource)}): a class may read its own package, and may neither write files nor start processes or threads`;
    default:
      return `${errorMessage(error)}${placeOf(error)}`;
  }
}

/** Node says where TypeScript is wrong in the first line of the stack alone, before the message. */
function placeOf(error: unknown): string {
  const stack = error instanceof Error ? error.stack : undefined;
  const [, file, line] = /^(\/\S+):(\d+)\n/.exec(stack ?? '') ?? [];
  return file === undefined ? '' : ` (line ${line} of ${file})`;
}
