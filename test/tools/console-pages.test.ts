// @module-tag long
import { existsSync } from 'node:fs';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ConsoleResult, followConsole, shownPattern } from '../helpers/console-page.ts';
import { pushTestCatalog } from '../helpers/mirrored-catalog.ts';
import { OpmRegistry } from '../helpers/opm-registry.ts';

/** Pages whose commands need no cluster: what they print is what the page shows. */
const pages = ['catalogs.md', 'bundle-tools.md'];

let registry: OpmRegistry;
let dir: string;

beforeAll(async () => {
  registry = await OpmRegistry.start();
  dir = await mkdtemp(join(tmpdir(), 'console-pages-'));
});

afterAll(async () => {
  await registry?.stop();
  await rm(dir, { recursive: true, force: true });
});

test.each(pages)('docs/howto/%s prints what it shows', async (page) => {
  const root = join(import.meta.dirname, '../..');
  const folder = await mkdtemp(join(dir, 'page-'));
  await symlink(join(root, 'deploy'), join(folder, 'deploy'));
  expect(existsSync(join(folder, 'deploy/samples/howto/catalog'))).toBe(true);
  const meant = { 'registry.local:5000': registry.host };
  const results = await followConsole(page, { dir: folder, env: registry.env, meant });
  expect(results.length).toBeGreaterThan(0);
  const wrong = results.filter(({ shown, printed }) => !shownPattern(shown).test(printed));
  expect(wrong.map(asShown)).toEqual(wrong.map(({ command, shown }) => `$ ${command}\n${shown}`));
});

test('docs/howto/disconnected.md fills a mirror as it shows', async () => {
  const { host } = registry;
  const operators = [
    { name: 'web-operator', versions: ['1.0.0', '1.1.0', '2.0.0'] },
    { name: 'db-operator', versions: ['0.1.0', '0.2.0'] },
  ];
  await pushTestCatalog({ registry: host, prefix: 'example/', catalog: 'catalog:v1' }, operators);
  const folder = await mkdtemp(join(dir, 'page-'));
  const meant = {
    'rukpakctl mirror --': `rukpakctl mirror --insecure-registry ${host} --`,
    'quay.io/example': `${host}/example`,
    'mirror.example:5000': host,
  };
  const results = await followConsole('disconnected.md', { dir: folder, meant });
  const wrong = results.filter(({ shown, printed }) => !shownPattern(shown).test(printed));
  expect(wrong.map(asShown)).toEqual(wrong.map(({ command, shown }) => `$ ${command}\n${shown}`));
});

function asShown({ command, printed }: ConsoleResult): string {
  return `$ ${command}\n${printed}`;
}
