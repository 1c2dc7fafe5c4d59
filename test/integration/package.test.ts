// @module-tag long
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PackageProject } from '../helpers/package-project.ts';

let project: PackageProject;
let manifest: { readonly version: string; readonly exports: Readonly<Record<string, unknown>> };

beforeAll(async () => {
  project = await PackageProject.create();
  manifest = JSON.parse(await installed('package.json')) as typeof manifest;
  // Helm's engine may have to be built first.
}, 1_200_000);

afterAll(async () => {
  await project?.remove();
});

async function installed(path: string): Promise<string> {
  return await readFile(join(project.folder, 'node_modules/rukpak-ts', path), 'utf8');
}

/** The first example of the page that the package carries about a door. */
async function exampleOf(door: string): Promise<string> {
  const section = (await installed('docs/sdk.md')).split(`\n## \`${door}\`\n`)[1] ?? '';
  return /^```ts\n(.*?)^```$/ms.exec(section)?.[1] ?? '';
}

const loadedModules = `
  import { registerHooks } from 'node:module';
  const loaded = [];
  registerHooks({
    load(url, context, next) {
      const result = next(url, context);
      if (!url.startsWith('node:')) loaded.push({ url, bytes: result.source?.length ?? 0 });
      return result;
    },
  });
  await import(process.argv[2]);
  console.log(JSON.stringify(loaded));
`;

interface Loaded {
  readonly packages: readonly string[];
  readonly modules: number;
  readonly bytes: number;
}

/** What importing a door brings in. */
async function loadedBy(door: string): Promise<Loaded> {
  await project.write('loaded.js', loadedModules);
  const output = await project.run('node', ['loaded.js', door]);
  const loaded = JSON.parse(output) as { readonly url: string; readonly bytes: number }[];
  const names = loaded.map(({ url }) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1]);
  return {
    packages: [...new Set(names.map((name) => name ?? 'none'))].toSorted(),
    modules: loaded.length,
    bytes: loaded.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

describe('the published package', () => {
  it('has five doors, each with its types first', () => {
    const doors = ['./api/v1alpha1', './controller', './manager', './sdk', './testing'];
    expect(Object.keys(manifest.exports).toSorted()).toEqual(doors);
    for (const door of Object.values(manifest.exports)) {
      expect(Object.keys(door as object)).toEqual(['types', 'default']);
    }
  });

  it('contains only what runs: no tests, no sources, no source maps, no state of the compiler', async () => {
    const folder = join(project.folder, 'node_modules/rukpak-ts');
    const paths = await readdir(folder, { recursive: true });
    const shipped = paths.filter((path) => !/^(scaffold|examples)\//.test(path));
    const wrong =
      /\.test\.|(?<!\.d)\.ts$|\.map$|tsbuildinfo|tsconfig|^dist\/(test|examples)\b|helm-engine.*\.source$/;
    expect(shipped.filter((path) => wrong.test(path))).toEqual([]);
    expect((await readdir(folder)).toSorted()).toEqual([
      'CHANGELOG.md',
      'CONTRIBUTING.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'bin',
      'build-info.json',
      'deploy',
      'dist',
      'docs',
      'examples',
      'package.json',
      'scaffold',
    ]);
  });

  it('holds every page and file that its pages link to', async () => {
    const folder = join(project.folder, 'node_modules/rukpak-ts');
    const paths = await readdir(folder, { recursive: true });
    const pages = paths.filter((path) => /^(docs\/.*|[^/]+)\.md$/.test(path));
    expect(pages.length).toBeGreaterThan(50);
    const lost: string[] = [];
    for (const page of pages) {
      const links = (await installed(page)).matchAll(/\]\((?!\w+:)([\w./-]+\w)(?:#[^)]*)?\)/g);
      for (const [, link = ''] of links) {
        const target = join(dirname(page), link);
        if (!paths.includes(target)) lost.push(`${page}: ${link}`);
      }
    }
    expect(lost).toEqual([]);
  });

  it('runs its programs', async () => {
    expect(await project.run('rukpak', ['--version'])).toBe(`${manifest.version}\n`);
    expect(await project.run('rukpakctl', ['--help'])).toContain('Usage: rukpakctl');
    expect(await project.run('opm', ['version'])).toContain(`+rukpak-ts.${manifest.version}"`);
  });

  it.each(['', '/dist/core/sdk.js', '/core/sdk.ts', '/dist/cmd/rukpak.js', '/provisioners'])(
    'lets nobody in by rukpak-ts%s',
    async (path) => {
      await project.write('private.js', `await import('rukpak-ts${path}');`);
      const { output, code } = await project.end('node', ['private.js']);
      expect(code).toBe(1);
      expect(output).toContain('ERR_PACKAGE_PATH_NOT_EXPORTED');
    },
  );
});

describe('the doors', () => {
  it('give types to a strict project that checks those of libraries too', async () => {
    await project.write('tsconfig.json', JSON.stringify(strictProject));
    await project.write('class.ts', aClass);
    await project.write('class.test.ts', aSuite);
    await project.write('main.ts', aMain);
    await project.write('controller.ts', await exampleOf('rukpak-ts/controller'));
    expect(await project.run('tsc', [])).toBe('');
  });

  it('of the SDK stays small, with no client of Kubernetes behind it', async () => {
    const { packages, modules, bytes } = await loadedBy('rukpak-ts/sdk');
    // `yaml` is loaded for the documents that need it.
    expect(packages).toEqual(['rukpak-ts', 'tar']);
    expect(modules).toBeLessThan(130);
    expect(bytes).toBeLessThan(550_000);
  });

  it('of controllers opens without what core alone needs', async () => {
    const { packages } = await loadedBy('rukpak-ts/controller');
    expect(packages).toContain('undici');
    const ofCore = ['@kubernetes/client-node', 'express', 'isomorphic-git', 're2js', 'ssh2', 'tar'];
    expect(packages.filter((name) => ofCore.includes(name))).toEqual([]);
  });

  it('of the suites needs the SDK and nothing else', async () => {
    const { packages, modules } = await loadedBy('rukpak-ts/testing');
    expect(packages).toEqual(['rukpak-ts', 'tar']);
    expect(modules).toBeLessThan(180);
  });
});

describe('the suite for classes, with node:test', () => {
  it('passes a class that keeps the contract', async () => {
    await project.write('class.ts', aClass);
    await project.write('class.test.ts', aSuite);
    const { output, code } = await project.end('node', ['--test', 'class.test.ts']);
    expect(output).toMatch(/pass 17\n[^]*fail 0\n/);
    expect(code).toBe(0);
  });

  it('fails one that does not, and says where', async () => {
    await project.write('class.ts', aClass.replace("'colours'", 'String(Math.random())'));
    const { output, code } = await project.end('node', ['--test', 'class.test.ts']);
    expect(code).toBe(1);
    expect(output).toContain('called again with the same, it gave something else');
    await project.write('class.ts', aClass);
  });
});

const strictProject = {
  compilerOptions: {
    target: 'ES2024',
    lib: ['ES2024'],
    module: 'NodeNext',
    types: ['node'],
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    verbatimModuleSyntax: true,
    erasableSyntaxOnly: true,
    allowImportingTsExtensions: true,
    skipLibCheck: false,
    noEmit: true,
  },
  include: ['*.ts'],
};

const aClass = `
import { defineProvisioner, TerminalError } from 'rukpak-ts/sdk';

export default defineProvisioner({
  className: 'acme-colours',
  bundle: async (files) => {
    if (!files.files.has('colour.txt')) throw new TerminalError('colour.txt is missing');
    return files;
  },
  deployment: async ({ files }, { metadata }, { signal }) => {
    signal.throwIfAborted();
    const colour = new TextDecoder().decode(files.get('colour.txt'));
    return [
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'colours', namespace: metadata.name ?? '' },
        data: { colour },
      },
    ];
  },
});
`;

const aSuite = `
import { test } from 'node:test';
import { describeProvisioner } from 'rukpak-ts/testing';
import acme from './class.ts';

const files = { 'colour.txt': 'blue' };
describeProvisioner(
  acme,
  {
    bundles: [{ name: 'blue', files, stored: files }],
    deployments: [{ name: 'blue', files }],
    refused: [
      { name: 'nothing', files: {}, message: 'colour.txt is missing' },
      { name: 'another file', files: { a: '' }, message: /colour\\.txt/ },
    ],
  },
  { test, module: new URL('./class.ts', import.meta.url) },
);
`;

const aMain = `
import { type Bundle, bundleCondition, bundleSpecSchema } from 'rukpak-ts/api/v1alpha1';
import { type ManagerOptions, runManager } from 'rukpak-ts/manager';
import { z } from 'zod';
import { defineSource, readManifestFiles } from 'rukpak-ts/sdk';
import { aBundle, bundleFiles, describeSource } from 'rukpak-ts/testing';
import acme from './class.ts';

export const source = defineSource({
  type: 'acme',
  parameters: z.object({ version: z.string().optional() }),
  pin: 'version',
  host: () => new URL('https://acme.example'),
  shareable: true,
  fetch: async ({ version = 'v1' }) => ({ files: bundleFiles({ a: 'b' }), pin: version }),
});
export const options: ManagerOptions = {
  provisioners: [acme, new URL('./class.ts', import.meta.url)],
  sources: [source],
  content: { contentServers: ['https://core.rukpak-system.svc'], caFile: '/ca.crt' },
  leaderElection: false,
};
export const run = (): Promise<void> => runManager(options, AbortSignal.timeout(1));
export const bundle: Bundle = aBundle({ name: 'a' });
export const others = [bundleCondition, bundleSpecSchema, readManifestFiles, describeSource];
`;
