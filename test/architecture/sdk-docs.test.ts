import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import * as sdk from '../../core/sdk.ts';
import * as testing from '../../testing/index.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/sdk.md'), 'utf8');

/** What a module exports, by name: lists of names, and functions of its own. */
function exportsOf(path: string): readonly string[] {
  const text = readFileSync(join(root, path), 'utf8');
  const lists = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].map(([, list = '']) => list);
  const listed = lists.flatMap((list) => list.split(',')).map((name) => name.replace('type ', ''));
  const own = [...text.matchAll(/^export (?:async )?function (\w+)/gm)].map(
    ([, name = '']) => name,
  );
  return [...listed.map((name) => name.trim()), ...own].filter((name) => name !== '');
}

function sectionOf(door: string): string {
  const section = page.split('\n## ').find((text) => text.startsWith(`\`${door}\`\n`));
  if (section === undefined) throw new Error(`docs/sdk.md has no section for ${door}`);
  return section;
}

test.each([
  ['rukpak-ts/sdk', 'core/sdk.ts'],
  ['rukpak-ts/testing', 'testing/index.ts'],
  ['rukpak-ts/manager', 'core/run-manager.ts'],
  ['rukpak-ts/controller', 'core/controller.ts'],
])('docs/sdk.md names all that %s exports, and nothing else', (door, path) => {
  const exported = exportsOf(path);
  expect(exported.length).toBeGreaterThan(3);
  const rows = sectionOf(door)
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  const named = rows.flatMap((row) => [...(row.split(' | ')[0] ?? '').matchAll(/`(\w+)`/g)]);
  expect(named.map(([, name = '']) => name).toSorted()).toEqual(exported.toSorted());
});

/** The TypeScript of a section, block by block. */
function blocksOf(section: string): readonly string[] {
  return [...section.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, block = '']) => block);
}

const doors = {
  sdk: 'core/sdk.ts',
  testing: 'testing/index.ts',
  controller: 'core/controller.ts',
};

describe('the examples', () => {
  test.each([
    ['rukpak-ts/sdk', sdk],
    ['rukpak-ts/testing', testing],
  ])('use every function of %s', (door, module) => {
    const imports = blocksOf(page).flatMap((block) =>
      [...block.matchAll(/^import \{([^}]*)\} from '([^']*)'/gm)]
        .filter(([, , from]) => from === door)
        .flatMap(([, names = '']) => names.split(',').map((name) => name.trim())),
    );
    expect(Object.keys(module).filter((name) => !imports.includes(name))).toEqual([]);
  });

  test('of the SDK do what they say', async () => {
    const said = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    onTestFinished(() => said.mockRestore());
    for (const block of blocksOf(sectionOf('rukpak-ts/sdk'))) {
      const door = pathToFileURL(join(root, doors.sdk)).href;
      const code = stripTypeScriptTypes(block)
        .replaceAll("'rukpak-ts/sdk'", `'${door}'`)
        .replaceAll("'zod'", `'${import.meta.resolve('zod')}'`);
      await import(`data:text/javascript,${encodeURIComponent(code)}`);
    }
    expect(said.mock.calls).toEqual([
      ['manifests/all.yaml', 1],
      ['manifests/more.json', 1],
      [1],
      [expect.stringMatching(/^settings-[0-9a-z]{10}$/)],
    ]);
  });

  test('compile', { tags: ['process'] }, () => {
    const parent = join(root, 'node_modules/.cache');
    mkdirSync(parent, { recursive: true });
    const folder = mkdtempSync(join(parent, 'sdk-docs-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const paths = Object.fromEntries(
      Object.entries(doors).map(([door, path]) => [`rukpak-ts/${door}`, [join(root, path)]]),
    );
    const options = { ...compilerOptions, paths };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options }));
    // The manager is most of the project, and takes ten times as long as all others.
    const blocks = blocksOf(page).filter((block) => !block.includes('rukpak-ts/manager'));
    expect(blocks.length).toBeGreaterThan(5);
    for (const [index, block] of blocks.entries()) {
      writeFileSync(join(folder, nameOf(block) ?? `block-${index}.ts`), block);
    }
    const compiler = join(root, 'node_modules/.bin/tsc');
    const { stdout, status } = spawnSync(compiler, ['-p', folder], { encoding: 'utf8' });
    expect(stdout).toBe('');
    expect(status).toBe(0);
  });
});

/** What other examples import a block as. */
function nameOf(block: string): string | undefined {
  if (block.includes("className: 'acme-jsonnet',")) return 'class.ts';
  return block.includes('export const shelf') ? 'shelf.ts' : undefined;
}

const compilerOptions = {
  target: 'ES2024',
  lib: ['ES2024', 'ESNext.Iterator', 'ESNext.Collection', 'ESNext.Disposable'],
  module: 'NodeNext',
  types: ['node'],
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  verbatimModuleSyntax: true,
  erasableSyntaxOnly: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
  noEmit: true,
};
