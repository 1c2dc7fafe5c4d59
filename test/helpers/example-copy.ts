import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packedPackage } from './packed-package.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

export interface ExampleCopy {
  readonly folder: string;
  remove(): Promise<void>;
}

/** A copy of an example outside of the checkout, with the packed package as its only dependency. */
export async function copyExample(name: string): Promise<ExampleCopy> {
  const folder = await mkdtemp(join(tmpdir(), `rukpak-${name}-`));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    await cp(join(root, 'examples', name), folder, { recursive: true });
    const args = [
      'install',
      '--no-audit',
      '--no-fund',
      '--ignore-scripts',
      '--prefer-offline',
      '--fetch-retries=5',
    ];
    await run('npm', [...args, await packedPackage()], { cwd: folder });
  } catch (error) {
    await remove();
    throw error;
  }
  return { folder, remove };
}
