// @module-tag long
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { KubernetesObject } from '../../api/meta.ts';
import { podSpecOf } from '../helpers/local-pod.ts';

const root = join(import.meta.dirname, '../..');

async function read(path: string): Promise<string> {
  return await readFile(join(root, path), 'utf8');
}

test('what the howto shows of the example is in its files', async () => {
  const page = await read('docs/howto/write-a-provisioner.md');
  const shown = [...page.matchAll(/<!-- (examples\/\S+) -->\n```ts\n(.*?)```\n/gs)];
  expect(shown.length).toBeGreaterThan(8);
  for (const [, path = '', code = ''] of shown) expect(await read(path)).toContain(code);
  const blocks = [...page.matchAll(/^```ts$/gm)];
  expect(blocks).toHaveLength(shown.length);
});

test('the template sets nothing that the example does not read', async () => {
  const text = await read('deploy/samples/own-process/deployment.yaml');
  const [deployment] = parseAllDocuments(text).map((each) => each.toJS() as KubernetesObject);
  const [{ env = [], volumeMounts = [] }] = podSpecOf(deployment!).containers;
  const main = await read('examples/kustomize-class/src/main.ts');
  for (const { name } of env) expect(main).toContain(`  ${name}:`);
  const values = env.map((each) => (each as { value?: string }).value);
  expect(values).toEqual(expect.arrayContaining(['/var/cache/bundles', '/etc/class/tls']));
  expect(volumeMounts.map(({ mountPath }) => mountPath)).toEqual(
    expect.arrayContaining(['/var/cache/bundles', '/etc/class/tls']),
  );
});
