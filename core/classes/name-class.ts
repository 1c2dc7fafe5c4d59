import type { Provisioner } from '../contracts/provisioner.ts';

/** Classes of ours say what is wrong in RukPak's words, and of them everybody knows who speaks. */
const ownPrefix = 'core-rukpak-io-';

type HandlerName = 'bundle' | 'configure' | 'deployment' | 'inputs';

/** Which handler of which class, for the beginning of a sentence. */
export function handlerOf(
  { className }: Pick<Provisioner, 'className'>,
  handler: HandlerName,
): string {
  return `class "${className}", ${handler}()`;
}

/**
 * Runs a handler of a class. What it throws says which handler of which class did: "boom" alone would
 * send its reader anywhere.
 */
export async function nameClass<T>(
  provisioner: Pick<Provisioner, 'className'>,
  handler: HandlerName,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof Error) nameIn(error, { provisioner, handler });
    throw error;
  }
}

/** The error stays the same one: what it is decides whether it is tried again. */
function nameIn(
  error: Error,
  { provisioner, handler }: { provisioner: Pick<Provisioner, 'className'>; handler: HandlerName },
): void {
  const { className } = provisioner;
  // What a class's own server or process has met names the class already.
  if (className.startsWith(ownPrefix) || error.message.startsWith(`class "${className}"`)) return;
  // Some errors cannot be changed, and stay without.
  Reflect.set(error, 'message', `${handlerOf(provisioner, handler)}: ${error.message}`);
}
