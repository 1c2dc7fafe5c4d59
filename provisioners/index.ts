import { extname } from 'node:path';

/** Modules of the classes that the stock manager serves, each with its class as default export. */
export const builtInProvisionerModules: readonly URL[] = ['plain', 'registry'].map(moduleOf);

/**
 * Module of the class with Helm's engine: its handlers may need much time and memory for any
 * content, so the manager never calls them in its own process.
 */
export const chartProvisionerModules: readonly URL[] = ['helm'].map(moduleOf);

function moduleOf(directory: string): URL {
  // The same extension as this file: TypeScript from a checkout, JavaScript from dist.
  return new URL(`./${directory}/index${extname(import.meta.url)}`, import.meta.url);
}
