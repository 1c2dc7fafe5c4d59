import { extname } from 'node:path';

const directories = ['plain', 'registry'];

/** Modules of the classes that the stock manager serves, each with its class as default export. */
export const builtInProvisionerModules: readonly URL[] = directories.map(
  // The same extension as this file: TypeScript from a checkout, JavaScript from dist.
  (directory) => new URL(`./${directory}/index${extname(import.meta.url)}`, import.meta.url),
);
