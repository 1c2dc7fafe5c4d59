import { chmod, cp, mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aBundleDeployment, anImage } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { rukpakctl } from '../helpers/rukpakctl.ts';
import { System } from '../helpers/system.ts';

const samples = join(import.meta.dirname, '../../deploy/samples/howto');
const name = 'built-image';

let dir: string;
let kubectl: Kubectl;
let system: System;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'built-image-'));
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
  system = await System.start({ kubeconfig: plane.kubeconfig, registry: plane.registry });
});

afterAll(async () => {
  await kubectl?.run(['delete', 'bundledeployment', name, '--wait=true', '--timeout=300s']);
  await system?.stop();
  await rm(dir, { recursive: true, force: true });
});

/** A copy of a sample in a folder of its own, whose files are of another time and of other modes. */
async function copyOf(what: string, year: number, mode: number): Promise<string> {
  const folder = join(dir, `${what}-of-${year}`);
  await cp(join(samples, what), folder, { recursive: true });
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) await chmod(path, mode);
    await utimes(path, new Date(year, 0), new Date(year, 0));
  }
  return folder;
}

/** Builds the image of a directory. Its reference, by digest. */
async function built(what: string, directory: string, tag: string): Promise<string> {
  const repository = `${plane.registry}/e2e/built-${what}`;
  const to = `${repository}:${tag}`;
  const insecure = ['--insecure-registry', plane.registry];
  const args = [what, 'build', directory, '--to', to, '-o', 'json', ...insecure];
  const { code, stdout } = await rukpakctl(args);
  expect(code).toBe(0);
  return `${repository}@${(JSON.parse(stdout) as { digest: string }).digest}`;
}

test.each(['bundle', 'catalog'])(
  'a %s has the same image from any folder, at any time',
  async (what) => {
    const first = await built(what, await copyOf(what, 1999, 0o600), 'first');
    const second = await built(what, await copyOf(what, 2026, 0o777), 'second');
    expect(second).toBe(first);
  },
);

test('the image of a bundle is installed by a BundleDeployment', async () => {
  const ref = await built('bundle', join(samples, 'bundle'), 'v1');
  const className = 'core-rukpak-io-registry';
  await kubectl.apply(aBundleDeployment({ name, className, source: anImage(ref) }));
  await eventually(async () => {
    const deployment = await kubectl.get('bundledeployment', name);
    expect(conditionOf(deployment, 'Healthy')).toMatchObject({ status: 'True' });
    expect(conditionOf(deployment, 'Installed')).toMatchObject({ status: 'True' });
  });
  const selector = `core.rukpak.io/owner-name=${name}`;
  const deployments = await kubectl.list('deployments,customresourcedefinitions', selector);
  expect(deployments.map(({ kind }) => kind).toSorted()).toEqual([
    'CustomResourceDefinition',
    'Deployment',
  ]);
});
