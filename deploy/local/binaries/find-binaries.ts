import { join } from 'node:path';
import type { BinaryName } from './catalogue.ts';
import { BINARY_NAMES } from './catalogue.ts';
import type { Progress } from './progress.ts';

/** The path of each binary. */
export type Binaries = Readonly<Record<BinaryName, string>>;
export interface FindOptions {
  readonly onProgress: Progress;
  readonly signal: AbortSignal;
}
export async function findBinaries(_: FindOptions): Promise<Binaries> {
  const dir = process.env['KUBEBUILDER_ASSETS'] ?? '';
  return Object.fromEntries(
    BINARY_NAMES.map((name) => [name, join(dir, name)]),
  ) as unknown as Binaries;
}
