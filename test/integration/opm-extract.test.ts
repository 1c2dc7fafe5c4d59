// @module-tag long
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runBothOpms } from '../helpers/both-opms.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { opmBinary, runOpm } from '../helpers/opm.ts';
import { ourOpm } from '../helpers/our-opm.ts';
import { plane } from '../helpers/plane.ts';

const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
const namespace = 'opm-extract';
let dir: string;

beforeAll(async () => {
  await opmBinary();
  await kubectl.must(['create', 'namespace', namespace]);
  dir = await mkdtemp(join(tmpdir(), 'opm-extract-'));
  const files = {
    'manifests/csv.yaml': 'kind: ClusterServiceVersion\n',
    'manifests/a b:c.yaml': 'kind: Secret # é\n',
    'metadata/annotations.yaml':
      'annotations: {operators.operatorframework.io.bundle.package.v1: pkg, other: x}\n',
    'metadata/dependencies.yaml': 'dependencies: []\n',
  };
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, name)), { recursive: true });
    await writeFile(join(dir, name), text);
  }
});

afterAll(async () => {
  await kubectl.deleteNamed('namespace', [namespace]);
  await rm(dir, { recursive: true, force: true });
});

interface ConfigMap {
  readonly metadata: { readonly annotations?: object; readonly labels?: object };
  readonly data?: object;
  readonly binaryData?: Readonly<Record<string, string>>;
}

/** Compressors differ: what counts is what they have compressed. */
async function extracted(name: string): Promise<object> {
  const text = await kubectl.must(['-n', namespace, 'get', 'configmap', name, '-o', 'json']);
  const { metadata, data, binaryData } = JSON.parse(text) as ConfigMap;
  const files = Object.entries(binaryData ?? {}).map(([key, value]) => {
    const compressed = Buffer.from(Buffer.from(value, 'base64').toString(), 'base64');
    return [key, gunzipSync(compressed).toString()];
  });
  const { annotations, labels } = metadata;
  return { annotations, labels, data, files: Object.fromEntries(files) as object };
}

const env = { KUBECONFIG: plane.kubeconfig };

test.each([
  ['files', [], {}],
  ['compressed files', ['-z'], {}],
  ['files of an image', ['--gzip'], { CONTAINER_IMAGE: 'example.com/bundle:v1' }],
])('%s are in the ConfigMap as opm puts them there', async (_what, flags, variables) => {
  const args = ['alpha', 'bundle', 'extract', '-m', `${dir}/`, '-n', namespace, ...flags];
  for (const name of ['ours', 'theirs']) {
    await kubectl.must(['-n', namespace, 'delete', 'configmap', name, '--ignore-not-found']);
    await kubectl.must(['-n', namespace, 'create', 'configmap', name, '--from-literal=old=1']);
    await kubectl.must(['-n', namespace, 'label', 'configmap', name, 'a=b']);
  }
  const ours = await ourOpm([...args, '-c', 'ours'], { env: { ...env, ...variables } });
  const theirs = await runOpm([...args, '-c', 'theirs'], { env: { ...env, ...variables } });
  const withoutTime = (text: string): string => text.replaceAll(/^time="[^"]*"/gm, '');
  expect(withoutTime(ours.stderr)).toBe(withoutTime(theirs.stderr));
  expect(ours.code).toBe(theirs.code);
  expect(await extracted('ours')).toEqual(await extracted('theirs'));
});

test.each([
  ['a ConfigMap that is not there', ['-c', 'nothing']],
  ['no name', []],
  ['more than the limit', ['-c', 'ours', '-l', '10']],
  ['a folder that is not there', ['-c', 'ours', '-m', '/nothing/']],
])('opm says the same of %s', async (_what, flags) => {
  const all = ['alpha', 'bundle', 'extract', '-m', `${dir}/`, '-n', namespace, ...flags];
  const { ours, theirs } = await runBothOpms(all, { env });
  expect(ours).toEqual(theirs);
});
