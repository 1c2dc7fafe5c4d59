import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { KubernetesObject } from '../../../api/meta.ts';
import { aConfigMap } from '../../../test/helpers/objects.ts';
import { plainFiles } from '../../../test/helpers/push-content.ts';
import { type CtlResult, rukpakctl } from '../../../test/helpers/rukpakctl.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rukpak-permissions-'));
  const gadget = { apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name: 'g' } };
  await write('Shop', aConfigMap('settings'));
  await write('strange', gadget);
});

afterAll(async () => await rm(folder, { recursive: true, force: true }));

async function write(name: string, object: object): Promise<void> {
  for (const [path, text] of Object.entries(plainFiles([object]))) {
    await mkdir(join(folder, name, 'manifests'), { recursive: true });
    await writeFile(join(folder, name, path), text);
  }
}

/** Without any cluster. */
async function permissions(name: string, ...flags: readonly string[]): Promise<CtlResult> {
  const env = { KUBECONFIG: join(folder, 'none') };
  return await rukpakctl(['permissions', join(folder, name), ...flags], { env });
}

const account = '--service-account=team-a/deployer';

test('of a folder are printed without a cluster, in both formats', async () => {
  const yaml = await permissions('Shop', account);
  expect(yaml).toMatchObject({ code: 0, stderr: '' });
  const json = await permissions('Shop', account, '-o', 'json');
  const { items } = JSON.parse(json.stdout) as { items: readonly KubernetesObject[] };
  expect(parseAllDocuments(yaml.stdout).map((document) => document.toJS() as unknown)).toEqual(
    items,
  );
  expect(items).toMatchObject([
    {
      kind: 'Role',
      metadata: { name: 'rukpak:team-a:deployer:shop', namespace: 'default' },
      rules: [
        {
          resources: ['configmaps'],
          resourceNames: ['settings'],
          verbs: ['delete', 'get', 'patch'],
        },
        { resources: ['configmaps'], verbs: ['create', 'list', 'watch'] },
      ],
    },
    { kind: 'RoleBinding', subjects: [{ namespace: 'team-a', name: 'deployer' }] },
  ]);
});

test.each([
  ['the namespace that is named', ['-n', 'team-a'], 'team-a'],
  ['the system namespace', [], 'rukpak-system'],
])('of objects without a namespace are in %s', async (...[_case, flags, namespace]) => {
  await write('bare', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' } });
  const { stdout } = await permissions('bare', account, ...flags, '-o', 'json');
  const { items } = JSON.parse(stdout) as { items: readonly KubernetesObject[] };
  expect(items).toMatchObject([
    { kind: 'Role', metadata: { namespace } },
    { kind: 'RoleBinding', metadata: { namespace } },
  ]);
});

test('are for somebody', async () => {
  const { code, stderr } = await permissions('Shop');
  expect(code).toBe(1);
  expect(stderr).toContain('--service-account NAMESPACE/NAME is required for a directory or image');
  const wrong = await permissions('Shop', '--service-account=deployer');
  expect(wrong.stderr).toContain('It must be NAMESPACE/NAME.');
});

test('of a name are those of the BundleDeployment, also where a directory has the same one', async () => {
  const env = { KUBECONFIG: join(folder, 'none') };
  const { code, stderr } = await rukpakctl(['permissions', 'docs', '--missing'], { env });
  expect(code).toBe(1);
  expect(stderr).toContain('cannot use kubeconfig');
  expect(stderr).toContain('; for directory "docs" add --service-account NAMESPACE/NAME\n');
});

test('of kinds that nobody knows are not printed', async () => {
  const { code, stdout, stderr } = await permissions('strange', account);
  expect(code).toBe(1);
  expect(stdout).toBe('');
  expect(stderr).toContain('Gadget of example.com/v1');
});
