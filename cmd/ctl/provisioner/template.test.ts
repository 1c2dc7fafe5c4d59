import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseManifests } from '../../../core/manifests/index.ts';

const root = new URL('../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');

interface Manifest {
  readonly files: readonly string[];
  readonly scripts: Readonly<Record<string, string>>;
  readonly engines: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly allowScripts: Readonly<Record<string, boolean>>;
}

interface Rule {
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const ours = JSON.parse(read('package.json')) as Manifest;
const theirs = JSON.parse(read('scaffold/provisioner/package.json')) as Manifest;

test('a new project is made with the tools that this one is made with', () => {
  for (const [name, range] of Object.entries(theirs.devDependencies)) {
    expect(ours.devDependencies[name], name).toBe(range);
  }
  expect(theirs.engines).toEqual(ours.engines);
});

test.each(['scaffold/provisioner', 'examples/kustomize-class'])(
  '%s brings its own Node, of the version that it needs, as this project does',
  (folder) => {
    const { engines, devDependencies, allowScripts } = JSON.parse(
      read(`${folder}/package.json`),
    ) as Manifest;
    expect(engines).toEqual(ours.engines);
    expect(devDependencies['node']).toBe(ours.devDependencies['node']);
    expect(allowScripts).toEqual(ours.allowScripts);
  },
);

test.each(['README.md', 'scaffold/provisioner/README.md', 'docs/howto/scaffold-a-provisioner.md'])(
  '%s says what has to be there: npm, on an older Node',
  (page) => {
    expect(read(page)).toMatch(/npm,? on Node 20 or later/);
    expect(read(page)).toContain('Node 24');
  },
);

test('a class is given no Secret that it does not use', () => {
  const objects = parseManifests(
    'rbac.yaml',
    Buffer.from(read('scaffold/provisioner/deploy/rbac.yaml')),
  );
  const rules = objects.flatMap(({ rules = [] }) => rules as readonly Rule[]);
  expect(rules.length).toBeGreaterThan(5);
  const granted = rules.flatMap(({ resources, verbs }) => [...resources, ...verbs]);
  expect(granted).not.toContain('secrets');
  expect(granted).not.toContain('*');
});

test('the template is part of the package', () => {
  expect(ours.files).toContain('scaffold');
});

test.each(['scaffold/provisioner/README.md', 'docs/howto/scaffold-a-provisioner.md'])(
  '%s names commands that there are',
  (page) => {
    const commands = [...read(page).matchAll(/npm (?:run (?!-)([a-z]+)|(test|start))\b/g)];
    const names = new Set(commands.map(([, script, builtIn]) => script ?? builtIn ?? ''));
    expect(names.size).toBeGreaterThan(3);
    for (const name of names) expect(theirs.scripts, name).toHaveProperty(name);
  },
);

test('the README of a project names files that there are', () => {
  const rows = read('scaffold/provisioner/README.md').matchAll(/^\| (`.*?`) \|/gm);
  const paths = [...rows].flatMap(([, cell = '']) => cell.replaceAll('`', '').split(', '));
  expect(paths).toContain('src/class.ts');
  for (const path of paths) {
    expect(existsSync(new URL(`scaffold/provisioner/${path}`, root)), path).toBe(true);
  }
});
