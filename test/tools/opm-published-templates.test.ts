// @module-tag long
import { existsSync, globSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodeBundle } from '../../catalog/blobs/index.ts';
import { buildBundleImage } from '../../catalog/images/index.ts';
import { loadDirectory } from '../../catalog/load/index.ts';
import { runBothOpms } from '../helpers/both-opms.ts';
import { operatorFiles } from '../helpers/operator-bundle.ts';
import { opmBinary, runOpm } from '../helpers/opm.ts';
import { OpmRegistry } from '../helpers/opm-registry.ts';
import type { ProgramResult } from '../helpers/run-in-process.ts';

/** Catalogs as they were published; kept beside the project, not in it. */
const catalogs = join(import.meta.dirname, '../../../shared/catalogs');
const isPresent = existsSync(catalogs);
const templates = globSync('templates/*/*', { cwd: catalogs });
/** The cut-off one is no catalog to opm, and so none to make a template of. */
const packages = isPresent
  ? readdirSync(join(catalogs, 'packages')).filter((name) => name !== 'slurm-operator')
  : [];
/** Name and version of a bundle that stands for the image of a published one. */
const unknown = { name: 'unknown', version: '0.1.0' };

const rendered = {
  code: 0,
  stdout: expect.stringContaining('"schema": "olm.bundle"') as string,
  stderr: '',
};

let dir: string;
let registry: OpmRegistry;
/** By the reference of the published image. */
const bundles = new Map<string, { readonly name: string; readonly version: string }>();
/** References of the images in their place, by those of the published. */
const pushed = new Map<string, string>();

beforeAll(async () => {
  await opmBinary();
  dir = await mkdtemp(join(tmpdir(), 'opm-published-'));
  registry = await OpmRegistry.start();
  for (const name of packages) {
    for await (const blob of loadDirectory(join(catalogs, 'packages', name))) {
      if (blob.schema !== 'olm.bundle') continue;
      const { image, properties } = decodeBundle(blob);
      const found = properties.find(({ type }) => type === 'olm.package')?.value;
      bundles.set(image, { name, version: (found as { version: string }).version });
    }
  }
});

afterAll(async () => {
  await registry?.stop();
  await rm(dir, { recursive: true, force: true });
});

/** A bundle of the same package and version in the registry of the test. */
async function inPlaceOf(image: string): Promise<string> {
  const known = pushed.get(image);
  if (known !== undefined) return known;
  const { name, version } = bundles.get(image) ?? unknown;
  const folder = join(dir, `bundle-${pushed.size}`);
  const spec = { version, description: `About ${name}`, icon: [{ base64data: 'eA==' }] };
  const modes = ['AllNamespaces'];
  for (const [path, content] of Object.entries(operatorFiles({ name, modes, spec }))) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    const named = content.replace(`${name}.v1.0.0`, `${name}.v${version}`);
    await writeFile(join(folder, path), named);
  }
  const { signal } = new AbortController();
  const built = await buildBundleImage(folder, { signal });
  const reference = await registry.pushBuilt(`${name}/image-${pushed.size}:v1`, built);
  pushed.set(image, reference);
  return reference;
}

/** A template whose images can be had here. */
async function withImages(template: string): Promise<string> {
  let text = template;
  for (const image of new Set(template.match(/(?<=image: )\S+$/gim))) {
    const escaped = image.replaceAll(/[.*+?^$()[\]{}|\\]/g, '\\$&');
    text = text.replaceAll(new RegExp(`${escaped}$`, 'gm'), await inPlaceOf(image));
  }
  return text;
}

async function same(args: readonly string[], stdin: string): Promise<ProgramResult> {
  const options = { cwd: dir, env: registry.env, stdin };
  const command = ['alpha', 'render-template', ...args, '--use-http', '-'];
  const { ours, theirs } = await runBothOpms(command, options);
  expect(ours).toEqual(theirs);
  return ours;
}

/** What opm itself makes of a published catalog. */
async function converted(to: 'basic' | 'substitutes', name: string): Promise<string> {
  const file = join(catalogs, 'packages', name, 'catalog.yaml');
  const { stdout } = await runOpm(['alpha', 'convert-template', to, file, '-o', 'yaml']);
  return stdout;
}

describe('a template that was published', () => {
  test.each(templates)('%s is rendered byte by byte', async (path) => {
    const template = await withImages(await readFile(join(catalogs, path), 'utf8'));
    expect(await same([], template)).toMatchObject(rendered);
    await same(['-o', 'yaml'], template);
    await same(['--migrate-level', 'bundle-object-to-csv-metadata'], template);
  });
});

describe('the template of a catalog that was published', () => {
  test.each(packages)('%s with images alone is rendered byte by byte', async (name) => {
    const template = await withImages(await converted('basic', name));
    expect(await same(['basic'], template)).toMatchObject(rendered);
    await same(['basic', '-o', 'yaml'], template);
  });

  test.each(packages)('%s with a substitution is rendered byte by byte', async (name) => {
    const template = await converted('substitutes', name);
    expect(await same(['substitutes'], template)).toMatchObject(rendered);
    const [base = ''] = /(?<=entries:\n {2}- name: )\S+/.exec(template) ?? [];
    bundles.set(`${name}:next`, { name, version: '99.0.0' });
    const substitution = `{name: ${await inPlaceOf(`${name}:next`)}, base: ${base}}`;
    const replaced = template.replace('substitutions: []', `substitutions: [${substitution}]`);
    // One would be stranded, where the bundle is in another channel too: both say so.
    await same(['substitutes', '-o', 'yaml'], replaced);
  });
});
