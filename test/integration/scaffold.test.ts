// @module-tag long
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type NewProject, newProject } from '../helpers/new-project.ts';

/** npm installs over the network; milliseconds. */
const npmTime = 900_000;
let project: NewProject;

beforeAll(async () => {
  project = await newProject('acme-io-site');
}, npmTime);

afterAll(() => project?.remove());

const read = (path: string): Promise<string> => readFile(join(project.folder, path), 'utf8');

test('a project has the name of its class everywhere', async () => {
  const paths = await readdir(project.folder, { recursive: true, withFileTypes: true });
  const files = paths.filter((each) => each.isFile() && !each.name.endsWith('.tgz'));
  expect(files.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['.gitignore', '.dockerignore', '.npmrc', 'class.test.ts', 'README.md']),
  );
  for (const { parentPath, name } of files) {
    expect(await readFile(join(parentPath, name), 'utf8'), name).not.toContain('example-class');
  }
  expect(await read('src/class.ts')).toContain("className: 'acme-io-site'");
});

test('the lock file names no registry', async () => {
  const lock = await read('package-lock.json');
  expect(lock.match(/"resolved": "[^"]*"/g)).toEqual([
    expect.stringMatching(/^"resolved": "file:vendor\/rukpak-ts-.*\.tgz"$/),
  ]);
});

test('what the image is built of is there', async () => {
  const dockerfile = await read('Dockerfile');
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)];
  const sources = copied.flatMap(([, paths = '']) => paths.split(' '));
  expect(sources).toEqual(expect.arrayContaining(['package-lock.json', 'vendor', 'src']));
  for (const source of sources) expect(existsSync(join(project.folder, source)), source).toBe(true);
  expect(await read('.dockerignore')).toContain('!vendor\n');
});

test(
  'npm install && npm test is green at once on an older Node, and so are the types',
  async () => {
    expect(await project.must('node', '--version')).toMatch(/^v20\./);
    await project.must('npm', 'install');
    const tested = await project.must('npm', 'test');
    expect(tested).toMatch(/^ℹ fail 0$/m);
    expect(Number(/^ℹ pass (\d+)$/m.exec(tested)?.[1])).toBeGreaterThan(5);
    await project.must('npm', 'run', 'types');
  },
  npmTime,
);

test('a version that is in no registry leaves no folder', async () => {
  const rukpakctl = join(project.parent, 'tools/node_modules/.bin/rukpakctl');
  const lost = ['provisioner', 'new', 'lost', '--dir', '../lost', '--sdk', '999.0.0'];
  const { code, stderr } = await project.run(rukpakctl, ...lost);
  expect(code).toBe(1);
  expect(stderr).toContain('leave out --sdk to take the rukpak-ts that makes the project');
  expect(existsSync(join(project.parent, 'lost'))).toBe(false);
});

test('a folder that is not empty is left alone', async () => {
  const before = await readdir(project.folder);
  const rukpakctl = join(project.parent, 'tools/node_modules/.bin/rukpakctl');
  const again = await project.run(rukpakctl, 'provisioner', 'new', 'acme', '--dir', '.');
  expect(again.code).toBe(1);
  expect(again.stderr).toContain('is not empty: name another folder with --dir');
  expect(await readdir(project.folder)).toEqual(before);
  const onFile = await project.run(
    rukpakctl,
    'provisioner',
    'new',
    'acme',
    '--dir',
    'package.json',
  );
  expect(onFile.stderr).toContain('package.json is a file: name another folder with --dir');
});

test('a sample needs a control plane that is named or up', async () => {
  const { code, stderr } = await project.run('npm', 'run', 'sample');
  expect(code).toBe(1);
  expect(stderr).toContain('no control plane of this project is up: run npm run dev');
});
