import { extname } from 'node:path';

/** Modules of the classes that the stock manager serves, each with its class as default export. */
export const builtInProvisionerModules: readonly URL[] = ['plain', 'registry'].map(moduleOf);

/**
 * The same of the class that runs Helm's engine: whatever the content, its handlers may run for
 * long and need memory, so they are never called in the manager itself.
 */
export const chartProvisionerModules: readonly URL[] = ['helm'].map(moduleOf);

function moduleOf(directory: string): URL {
  // The same extension as this file: TypeScript from a checkout, JavaScript from dist.
  return new URL(`./${directory}/index${extname(import.meta.url)}`, import.meta.url);
}
