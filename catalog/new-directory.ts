import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { TerminalError } from '../core/errors.ts';

/**
 * Fills a new or empty directory as a whole or not at all: `fill` gets an empty one, whose content
 * moves to its place when it is complete. Only a killed process leaves that one, `NAME.UUID.partial`:
 * beside a new directory, and inside an existing one, which may be a mount or the working directory.
 * @throws TerminalError for a directory with content
 */
export async function fillDirectory(
  directory: string,
  fill: (partial: string) => Promise<void>,
): Promise<void> {
  const whole = resolve(directory);
  const before = await namesIn(whole);
  if (before !== undefined && before.length > 0) throw notEmpty(directory, before);
  const parent = before === undefined ? dirname(whole) : whole;
  const partial = join(parent, `${basename(whole)}.${randomUUID()}.partial`);
  await mkdir(parent, { recursive: true });
  await mkdir(partial);
  try {
    await fill(partial);
    if (before === undefined) await rename(partial, whole);
    else {
      // A rename would replace what somebody has written meanwhile.
      const names = (await readdir(whole)).filter((name) => name !== basename(partial));
      if (names.length > 0) throw notEmpty(directory, names);
      for (const name of await readdir(partial)) {
        await rename(join(partial, name), join(whole, name));
      }
      await rmdir(partial);
    }
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
}

/** Undefined for a directory that does not exist. */
async function namesIn(directory: string): Promise<readonly string[] | undefined> {
  return await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}

/** What a message adds about a directory whose content only killed commands have left. */
export function leftovers(directory: string, names: readonly string[]): string {
  if (names.length === 0 || !names.every(isPartial)) return '';
  const paths = names.map((name) => join(directory, name)).join(', ');
  return `: only ${paths}, of a command that was killed or still runs; delete it if none runs`;
}

function isPartial(name: string): boolean {
  return /\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.partial$/.test(name);
}

function notEmpty(directory: string, names: readonly string[]): TerminalError {
  return new TerminalError(`${directory} is not empty${leftovers(directory, names)}`);
}
