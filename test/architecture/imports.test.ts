import { globSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';
import { describe, expect, test } from 'vitest';
import { mayImport, placeOf, roomOf, sideDoors } from './import-rules.ts';

const root = join(import.meta.dirname, '../..');

function sourceFiles(): string[] {
  return globSync(
    '{api,catalog,operators,resolver,core,testing,provisioners,webhooks,cmd,deploy,examples}/**/*.ts',
    {
      cwd: root,
    },
  )
    .map((path) => path.split(sep).join(posix.sep))
    .filter((path) => !path.endsWith('.test.ts') && !path.includes('/node_modules/'))
    .sort();
}

const importPattern = /(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g;

function importsOf(path: string): string[] {
  const text = readFileSync(join(root, path), 'utf8');
  return [...text.matchAll(importPattern)].map(([, target = '']) =>
    relative(root, join(root, dirname(path), target))
      .split(sep)
      .join(posix.sep),
  );
}

/** The folders inside `place` that can be reached from `folder` by imports; `.` holds the rest. */
function reachedFolders(place: string, folder: string): ReadonlySet<string> {
  const folderOf = (path: string): string => dirname(relative(place, path));
  const inside = sourceFiles().filter((path) => path.startsWith(`${place}/`));
  const reached = new Set<string>();
  const open = [folder];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const targets = inside.filter((path) => folderOf(path) === next).flatMap(importsOf);
    for (const target of targets.filter((path) => path.startsWith(`${place}/`)).map(folderOf)) {
      if (target === next || reached.has(target)) continue;
      reached.add(target);
      open.push(target);
    }
  }
  return reached;
}

test('maps are read with every key: z.record leaves __proto__ out', () => {
  const files = sourceFiles().filter((path) => !/^(?:examples|deploy)\//.test(path));
  const wrong = files.filter(
    (path) =>
      path !== 'api/record.ts' &&
      /\bz\s*\.\s*record\(/.test(readFileSync(join(root, path), 'utf8')),
  );
  expect(wrong).toEqual([]);
});

describe('imports go down only', () => {
  test('every source file has a place in the table', () => {
    expect(sourceFiles().filter((path) => placeOf(path) === undefined)).toEqual([]);
  });

  test('no file imports above its place', () => {
    const wrong = sourceFiles().flatMap((path) =>
      importsOf(path)
        .filter((target) => !mayImport(path, target))
        .map((target) => `${path} imports ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  /** The types of a room's door reach libraries whose types the package does not have. */
  const publicTypes = ['core/run-manager.ts', 'core/manager/options.ts'];

  test('across rooms only doors are imported', () => {
    const wrong = sourceFiles().flatMap((path) =>
      importsOf(path)
        .filter((target) => {
          const room = roomOf(target);
          const isInside =
            room === undefined || path.startsWith(`${room}/`) || publicTypes.includes(path);
          return !isInside && target !== `${room}/index.ts` && !sideDoors.has(target);
        })
        .map((target) => `${path} imports ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  test('the folders of the apply engine import one another in no circle', () => {
    const place = 'core/apply';
    const folders = new Set(
      sourceFiles()
        .filter((path) => path.startsWith(`${place}/`))
        .map((path) => dirname(relative(place, path))),
    );
    expect(folders.size).toBeGreaterThan(10);
    const circular = [...folders].filter((folder) => reachedFolders(place, folder).has(folder));
    expect(circular).toEqual([]);
  });

  test('an example imports the SDK, its own dependencies and Node alone', () => {
    const files = sourceFiles().filter((path) => /^examples\/[^/]+\/src\//.test(path));
    expect(files.length).toBeGreaterThan(0);
    for (const path of files.filter((path) => !path.endsWith('/main.ts'))) {
      const text = readFileSync(join(root, path), 'utf8');
      const packages = [...text.matchAll(/from '([^.'][^']*)'/g)].map(([, name]) => name);
      expect(packages.filter((name) => !/^(node:|zod$|rukpak-ts\/sdk$)/.test(name ?? ''))).toEqual(
        [],
      );
    }
  });

  test.each(['cmd/rukpak.ts', 'cmd/ctl/content/render-stream.ts'])(
    '%s favours memory before it loads anything of ours',
    (path) => expect(importsOf(path)[0]).toBe('cmd/favour-memory.ts'),
  );

  test('cmd/rukpak.ts asks for threads before anything uses one', () => {
    expect(importsOf('cmd/rukpak.ts')[1]).toBe('cmd/processes/more-threads.ts');
  });

  test('the table refuses what the design refuses', () => {
    expect(mayImport('core/store/x.ts', 'core/sources/y.ts')).toBe(false);
    expect(mayImport('core/platform/kube/x.ts', 'core/manifests/y.ts')).toBe(false);
    expect(mayImport('provisioners/plain/x.ts', 'provisioners/registry/y.ts')).toBe(false);
    expect(mayImport('provisioners/plain/x.ts', 'core/platform/kube/y.ts')).toBe(false);
    expect(mayImport('core/bundle/x.ts', 'cmd/y.ts')).toBe(false);
    expect(mayImport('webhooks/x.ts', 'core/apply/y.ts')).toBe(false);
    expect(mayImport('core/controller.ts', 'core/apply/y.ts')).toBe(false);
  });
});
