import { join } from 'node:path';
import { TerminalError } from '../errors.ts';

const suffix = '.tgz';
/** A DNS subdomain, as Bundle names are; it can neither be hidden nor leave a directory. */
const bundleName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
/** File systems end names at 255 bytes. */
const maxNameLength = 255 - suffix.length;

/** Where a Bundle's archive lies, refusing a name that is none with a TerminalError. */
export function archivePath(directory: string, name: string): string {
  if (!isStorable(name)) {
    throw new TerminalError(
      `content cannot be stored under the bundle name ${JSON.stringify(name.slice(0, 100))}: it must be a DNS subdomain of at most ${maxNameLength} characters`,
    );
  }
  return join(directory, name + suffix);
}

/** The Bundle whose archive has this file name; undefined for other files. */
export function bundleNameOf(fileName: string): string | undefined {
  if (!fileName.endsWith(suffix)) return undefined;
  const name = fileName.slice(0, -suffix.length);
  return isStorable(name) ? name : undefined;
}

function isStorable(name: string): boolean {
  return name.length <= maxNameLength && bundleName.test(name);
}
