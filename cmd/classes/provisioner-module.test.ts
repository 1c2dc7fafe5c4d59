import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { provisionerModule } from './provisioner-module.ts';

let root: string;

beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'provisioner-module-')));
  await files({
    'class.ts': '',
    'class.py': '',
    'project/package.json': { exports: { '.': { types: './x.d.ts', import: './src/a.ts' } } },
    'project/src/a.ts': '',
    'empty/readme': '',
    'broken/package.json': { main: 'gone.js' },
    'node_modules/plain/package.json': { main: 'main.js' },
    'node_modules/plain/main.js': '',
    'node_modules/@acme/classes/package.json': { exports: { './jsonnet': './jsonnet.mjs' } },
    'node_modules/@acme/classes/jsonnet.mjs': '',
    'mount/..2026/class.ts': '',
  });
  await symlink('..2026', join(root, 'mount/..data'));
  await symlink('..data/class.ts', join(root, 'mount/class.ts'));
});

afterAll(async () => {
  await rm(root, { recursive: true });
});

async function files(contents: Readonly<Record<string, string | object>>): Promise<void> {
  for (const [path, content] of Object.entries(contents)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(
      join(root, path),
      typeof content === 'string' ? content : JSON.stringify(content),
    );
  }
}

test.each([
  ['./class.ts', 'class.ts'],
  ['class.ts', 'class.ts'],
  ['./project', 'project/src/a.ts'],
  ['plain', 'node_modules/plain/main.js'],
  ['@acme/classes/jsonnet', 'node_modules/@acme/classes/jsonnet.mjs'],
  ['./mount/class.ts', 'mount/class.ts'],
])('%s is %s', (name, file) => {
  expect(provisionerModule(name, root).module).toEqual(pathToFileURL(join(root, file)));
});

test('an absolute path is where it says', () => {
  const path = join(root, 'class.ts');
  expect(provisionerModule(path, '/').module).toEqual(pathToFileURL(path));
});

test('a class may not lie in a folder where credentials are, as it may read all of that', async () => {
  const home = join(root, 'home');
  const token = '/var/run/secrets/kubernetes.io/serviceaccount';
  await files({ 'home/class.ts': '', 'home/.kube/config': '', 'home/acme/class.ts': '' });
  const secret = [join(home, '.kube'), token];
  expect(() => provisionerModule('./class.ts', home, secret)).toThrow(
    `a class may read all of its folder ${home}, which contains ${join(home, '.kube')}: move the class into a separate folder`,
  );
  expect(provisionerModule('./acme/class.ts', home, secret).readable).not.toContain(home);
});

test('a class may read its package and the packages around it, also behind links', () => {
  const { readable } = provisionerModule('./project', root);
  expect(readable).toEqual([
    join(root, 'project'),
    join(root, 'project/src'),
    join(root, 'node_modules'),
  ]);
  expect(provisionerModule('./mount/class.ts', root).readable).toContain(
    join(root, 'mount/..2026'),
  );
});

test.each([
  ['./gone.ts', 'there is no file or folder ROOT/gone.ts'],
  ['./class.py', 'ROOT/class.py is not a module: its name must end with .ts, .mts, .js, .mjs'],
  ['./empty', 'there is no ROOT/empty/package.json: name the module’s file'],
  ['./broken', 'ROOT/broken/package.json names gone.js, which does not exist'],
  [
    'acme',
    'there is no package "acme" in the node_modules of ROOT or above: install it, or write ./acme for a file or folder',
  ],
  [
    '@acme/classes',
    'ROOT/node_modules/@acme/classes/package.json exports nothing at "." for import',
  ],
])('%s is refused', (name, message) => {
  expect(() => provisionerModule(name, root)).toThrow(message.replaceAll('ROOT', root));
});
