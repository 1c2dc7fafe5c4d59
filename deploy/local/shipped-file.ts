import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A file or folder of deploy/local: the compiled program is in dist, its data files are not. */
export function shippedFile(path: string): string {
  const beside = new URL(path, import.meta.url);
  const ofPackage = new URL(`../../../deploy/local/${path}`, import.meta.url);
  return fileURLToPath(existsSync(beside) ? beside : ofPackage);
}
