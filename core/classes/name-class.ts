import type { Provisioner } from '../contracts/provisioner.ts';

/** Core's own classes use RukPak's messages unchanged, and everybody knows them. */
const ownPrefix = 'core-rukpak-io-';

type HandlerName = 'bundle' | 'configure' | 'deployment' | 'inputs';

/** Names a class's handler, for the start of a sentence. */
export function handlerOf(
  { className }: Pick<Provisioner, 'className'>,
  handler: HandlerName,
): string {
  return `class "${className}", ${handler}()`;
}

const results: Readonly<Record<HandlerName, string>> = {
  bundle: 'files',
  configure: 'files',
  deployment: 'objects',
  inputs: 'inputs',
};

/**
 * Runs a handler of a class, and adds the handler's name to its errors: "boom" alone would not tell
 * where it comes from.
 * @throws Error also when the handler returns nothing: as an empty result it would have core prune
 * all that is installed.
 */
export async function nameClass<T>(
  provisioner: Pick<Provisioner, 'className'>,
  handler: HandlerName,
  run: () => Promise<T | null | undefined>,
): Promise<T> {
  try {
    const result = await run();
    if (result !== undefined && result !== null) return result;
    throw new Error(`the handler returned no ${results[handler]}`);
  } catch (error) {
    if (error instanceof Error) nameIn(error, { provisioner, handler });
    throw error;
  }
}

/** Keeps the same error, because its class decides about a retry. */
function nameIn(
  error: Error,
  { provisioner, handler }: { provisioner: Pick<Provisioner, 'className'>; handler: HandlerName },
): void {
  const { className } = provisioner;
  // Errors of a class's server or process name the class already.
  if (className.startsWith(ownPrefix) || error.message.startsWith(`class "${className}"`)) return;
  // Frozen errors stay unchanged.
  Reflect.set(error, 'message', `${handlerOf(provisioner, handler)}: ${error.message}`);
}
