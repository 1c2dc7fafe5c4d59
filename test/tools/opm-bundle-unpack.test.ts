// @module-tag long
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadDirectory } from '../../cmd/ctl/content/load-content.ts';
import { defaultLimits } from '../../core/sdk.ts';
import { runBothOpms } from '../helpers/both-opms.ts';
import { opmBinary, runOpm } from '../helpers/opm.ts';
import { OpmRegistry } from '../helpers/opm-registry.ts';
import { ourOpm } from '../helpers/our-opm.ts';
import {
  realBundleDirectory,
  realBundlesArePresent,
  realBundleVersions,
} from '../helpers/real-bundles.ts';
import { aRegistryTree } from '../helpers/registry-bundle.ts';

let registry: OpmRegistry;
let dir: string;
let bad: string;

beforeAll(async () => {
  await opmBinary();
  registry = await OpmRegistry.start();
  dir = await mkdtemp(join(tmpdir(), 'opm-unpack-'));
  bad = await registry.push('bad', aRegistryTree());
  await writeFile(join(dir, 'file'), '');
});

afterAll(async () => {
  await registry?.stop();
  await rm(dir, { recursive: true, force: true });
});

async function contentOf(folder: string): Promise<object> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const read = files.map(async ({ parentPath, name }) => {
    const path = join(parentPath, name);
    return [path.slice(folder.length), await readFile(path, 'utf8')] as const;
  });
  return Object.fromEntries(await Promise.all(read));
}

/** Addresses in memory mean nothing. */
function normalise(text: string): string {
  return text
    .replaceAll(/^time="[^"]*"/gm, 'time=')
    .replaceAll(/Value 0x[0-9a-f]+/g, 'Value true')
    .replaceAll(/\/tmp\/(?:opm-\w+\/)?bundle-\d+\//g, '')
    .replace(/validation errors: (Missing|Expecting).*/, 'validation errors: $1 …');
}

test.runIf(realBundlesArePresent()).each(realBundlesArePresent() ? realBundleVersions() : [])(
  '%s is unpacked as by opm',
  async (version) => {
    const files = loadDirectory(realBundleDirectory(version), defaultLimits);
    const image = await registry.push('bundle', files);
    const args = ['alpha', 'bundle', 'unpack', image, '--use-http', '-o'];
    const folders = [
      await mkdtemp(join(dir, 'ours-')),
      await mkdtemp(join(dir, 'theirs-')),
    ] as const;
    const ours = await ourOpm([...args, folders[0]], { env: registry.env });
    const theirs = await runOpm([...args, folders[1]], { env: registry.env });
    expect(ours.code).toBe(theirs.code);
    expect(normalise(ours.stderr)).toBe(normalise(theirs.stderr));
    expect(await contentOf(folders[0])).toEqual(await contentOf(folders[1]));
  },
);

test.each([
  ['a bad bundle', () => [bad, '--use-http']],
  ['a bad bundle, unchecked', () => [bad, '--use-http', '-v']],
  ['a bundle over unverified TLS or HTTP', () => [bad, '--skip-tls-verify', '--use-http']],
  ['two ways at once', () => [bad, '-s', '--use-http']],
  ['a former flag', () => [bad, '-s']],
  ['a file to unpack to', () => [bad, '--use-http', '-o', 'file']],
  ['no image', () => []],
  ['an image that is none', () => ['A B', '--use-http']],
  ['a name that is too short', () => ['', '--use-http']],
  ['characters that no name has', () => ['example.com/a b:v1', '--use-http']],
  ['certificates that are not there', () => [bad, '-c', 'nothing']],
  ['certificates that are none', () => [bad, '-c', 'file']],
])('opm says the same of %s', async (_what, args) => {
  await mkdir(join(dir, 'out'), { recursive: true });
  const options = { cwd: dir, env: registry.env, normalise };
  const { ours, theirs } = await runBothOpms(
    ['alpha', 'bundle', 'unpack', '-o', 'out', ...args()],
    options,
  );
  expect(ours).toEqual(theirs);
});
