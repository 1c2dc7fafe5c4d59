// @module-tag long
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type KubernetesObject, parseManifests } from '../../core/sdk.ts';
import { copyExample, type ExampleCopy } from '../helpers/example-copy.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { type KustomizeTree, kustomizeTrees } from '../helpers/kustomize/trees.ts';
import { plane } from '../helpers/plane.ts';

const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });

let example: ExampleCopy | undefined;

beforeAll(async () => {
  example = await copyExample('kustomize-class');
  // The package may have to be made first.
}, 1_200_000);

afterAll(async () => {
  await example?.remove();
});

async function inExample(program: string, args: readonly string[], input = ''): Promise<string> {
  // With this Node, whatever the system's is.
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}` };
  const child = spawn(program, args, { cwd: example?.folder, env, stdio: 'pipe' });
  child.stdin.end(input);
  const [out, error] = await Promise.all([
    buffer(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  if (child.exitCode !== 0)
    throw new Error(`${program} ${args.join(' ')} failed: ${out.toString()}${error}`);
  return out.toString();
}

test('its types and its own tests are green with the packed package', async () => {
  await inExample('npm', ['run', 'types']);
  expect(await inExample('npm', ['test'])).toMatch(/^ℹ fail 0$/m);
});

const script = `
import { text } from 'node:stream/consumers';
import { aBundleDeployment, aContext, bundleFiles } from 'rukpak-ts/testing';
import kustomize from './src/class.ts';
const results = {};
for (const { name, files, path } of JSON.parse(await text(process.stdin))) {
  const bytes = Object.entries(files).map(([each, base64]) => [each, Buffer.from(base64, 'base64')]);
  const deployment = aBundleDeployment({ config: { path } });
  results[name] = await kustomize.deployment(bundleFiles(Object.fromEntries(bytes)), deployment, aContext());
}
console.log(JSON.stringify(results));
`;

/** What the class makes of all trees, in its own folder. */
async function byTheClass(): Promise<Readonly<Record<string, readonly KubernetesObject[]>>> {
  const trees = Object.entries(kustomizeTrees).map(([name, { files, path = '.' }]) => {
    const encoded = Object.entries(files).map(([each, content]) => [
      each,
      Buffer.from(content).toString('base64'),
    ]);
    return { name, files: Object.fromEntries(encoded), path };
  });
  return JSON.parse(
    await inExample('node', ['--input-type=module', '-e', script], JSON.stringify(trees)),
  );
}

async function byKustomize({ files, path = '.' }: KustomizeTree) {
  const folder = await mkdtemp(join(tmpdir(), 'rukpak-kustomize-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  const printed = await kubectl.must(['kustomize', join(folder, path)]);
  return inOrder(parseManifests('kustomize', Buffer.from(printed)));
}

function inOrder(objects: readonly KubernetesObject[]): readonly KubernetesObject[] {
  const key = ({ apiVersion, kind, metadata: { namespace, name } }: KubernetesObject) =>
    JSON.stringify([apiVersion, kind, namespace, name]);
  return objects.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}

describe('makes the objects that kubectl kustomize prints of', () => {
  let made: Awaited<ReturnType<typeof byTheClass>>;

  beforeAll(async () => {
    made = await byTheClass();
  });

  test.each(Object.entries(kustomizeTrees))('%s', async (name, tree) => {
    expect(inOrder(made[name] ?? [])).toEqual(await byKustomize(tree));
  });
});
