import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Sdk } from './sdk.ts';

export interface Project {
  /** Of the class. */
  readonly name: string;
  readonly sdk: Sdk;
}

/** What the class of the template is called. */
const templateName = 'example-class';

/** Writes the project into an empty folder. */
export async function writeProject(folder: string, project: Project): Promise<void> {
  for (const path of await templateFiles()) {
    const target = join(folder, targetOf(path));
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, adapted(path, await readFile(join(template, path), 'utf8'), project));
  }
  const { tarball, dependency } = project.sdk;
  if (tarball === undefined) return;
  const vendored = join(folder, dependency.replace(/^file:/, ''));
  await mkdir(dirname(vendored), { recursive: true });
  await copyFile(tarball, vendored);
}

// The compiled program lies one folder deeper than its source, in dist.
const beside = new URL('../../../scaffold/provisioner/', import.meta.url);
const besideDist = new URL('../../../../scaffold/provisioner/', import.meta.url);
const template = fileURLToPath(existsSync(beside) ? beside : besideDist);

async function templateFiles(): Promise<readonly string[]> {
  const entries = await readdir(template, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(template.length))
    .sort();
}

/** npm takes no files with these dots along in a package. */
function targetOf(path: string): string {
  return path.replace(/(^|\/)_(?=[^/]+$)/, '$1.');
}

function adapted(path: string, text: string, { name, sdk }: Project): string {
  const named = text.replaceAll(templateName, name);
  if (path === 'package.json') return withDependency(named, sdk);
  // What is not there cannot be copied.
  if (path === 'Dockerfile' && sdk.tarball === undefined)
    return named.replace(/^COPY vendor.*\n/m, '');
  return named;
}

function withDependency(text: string, { dependency }: Sdk): string {
  const manifest = JSON.parse(text) as { readonly dependencies: Readonly<Record<string, string>> };
  const dependencies = { ...manifest.dependencies, 'rukpak-ts': dependency };
  return `${JSON.stringify({ ...manifest, dependencies }, null, 2)}\n`;
}
