import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { imagePullerOptions } from '../../core/manager/index.ts';
import { addRegistryFlags, type RegistryFlags } from './registry-flags.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rukpak-registry-flags-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true });
});

function flags(...args: string[]): RegistryFlags {
  return addRegistryFlags(new Command()).parse(args, { from: 'user' }).opts();
}

test('without flags nothing is read', async () => {
  const options = await imagePullerOptions(flags());
  expect(options).toMatchObject({ insecureRegistries: [], registries: undefined });
  expect(options.hostCertificates).toBeUndefined();
});

test('settings without effect are told', async () => {
  const file = join(directory, 'registries.conf');
  await writeFile(file, 'unqualified-search-registries = ["quay.io"]\n');
  const notes: string[] = [];
  await imagePullerOptions(flags(`--registries-conf=${file}`), (text) => notes.push(text));
  expect(notes).toEqual([
    `${file}: unqualified-search-registries has no effect: names without a registry are those of docker.io`,
  ]);
});

test.each(['--registries-conf', '--registry-certs-dir', '--registry-ca-file'])(
  '%s names what cannot be read',
  async (flag) => {
    const path = join(directory, 'none');
    await expect(imagePullerOptions(flags(`${flag}=${path}`))).rejects.toThrow(path);
  },
);
