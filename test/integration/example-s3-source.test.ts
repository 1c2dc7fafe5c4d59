// @module-tag long
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { S3Server } from '../../examples/s3-source/test/s3-server.ts';
import { anArchive } from '../helpers/archives.ts';
import { eventually } from '../helpers/eventually.ts';
import { copyExample, type ExampleCopy } from '../helpers/example-copy.ts';
import { installCrds } from '../helpers/install-crds.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { plane } from '../helpers/plane.ts';
import { workerPorts } from '../helpers/worker-ports.ts';

const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
const server = await S3Server.start();
const { host } = new URL(server.endpoint);

let example: ExampleCopy;
let manager: ChildProcess | undefined;

beforeAll(async () => {
  example = await copyExample('s3-source');
  // The package may have to be made first.
}, 1_200_000);

afterAll(async () => {
  if (manager?.exitCode === null) {
    manager.kill('SIGTERM');
    await once(manager, 'exit');
  }
  await server.stop();
  await example.remove();
});

function start(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  // With this Node, whatever the system's is.
  const PATH = `${dirname(process.execPath)}:${process.env['PATH']}`;
  const options = { cwd: example.folder, env: { ...process.env, PATH, ...env } };
  return spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
}

async function run(program: string, args: readonly string[]): Promise<string> {
  const child = start(program, args);
  const [out, error] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  if (child.exitCode !== 0) throw new Error(`${program} ${args.join(' ')} failed: ${out}${error}`);
  return out;
}

test('its types and its own tests are green with the packed package', async () => {
  await run('npm', ['run', 'types']);
  expect(await run('npm', ['test'])).toMatch(/^ℹ fail 0$/m);
});

test('what the howto shows of it is in its files', async () => {
  const root = join(import.meta.dirname, '../..');
  const page = await readFile(join(root, 'docs/howto/write-a-source.md'), 'utf8');
  const shown = [...page.matchAll(/<!-- (examples\/\S+) -->\n```ts\n(.*?)```\n/gs)];
  expect(shown.length).toBeGreaterThan(5);
  for (const [, path = '', code = ''] of shown) {
    expect(await readFile(join(root, path), 'utf8')).toContain(code);
  }
  expect([...page.matchAll(/^```ts$/gm)]).toHaveLength(shown.length);
});

function aDeployment(type: string, parameters: object): string {
  const className = 'example-com-manifests';
  const template = { spec: { provisionerClassName: className, source: { type, parameters } } };
  return JSON.stringify({
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'BundleDeployment',
    metadata: { name: 's3' },
    spec: { provisionerClassName: className, template },
  });
}

async function conditionIs(type: string, expected: object): Promise<void> {
  await eventually(async () => {
    const deployment = await kubectl.get('bundledeployment', 's3');
    expect(conditionOf(deployment, type)).toMatchObject(expected);
  });
}

test('installs what a bucket has, pinned to the version of the object', async () => {
  const [content = 0, health = 0] = await workerPorts(2);
  await installCrds(plane.kubeconfig);
  await kubectl.run(['create', 'namespace', 'rukpak-system']);
  const { id, secret } = server.accessKey;
  const login = [
    `--from-literal=access-key-id=${id}`,
    `--from-literal=secret-access-key=${secret}`,
  ];
  await kubectl.must(['create', 'secret', 'generic', 's3', '--namespace=rukpak-system', ...login]);
  const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'from-s3' } };
  const archive = await anArchive({ 'manifests/a.yaml': JSON.stringify(configMap) });
  const version = server.put('team-a', 'shop.tgz', archive);
  manager = start('node', ['src/main.ts'], {
    KUBECONFIG: plane.kubeconfig,
    CONTENT_BIND_ADDRESS: `127.0.0.1:${content}`,
    HEALTH_BIND_ADDRESS: `127.0.0.1:${health}`,
  });
  const { endpoint } = server;
  const parameters = { endpoint, bucket: 'team-a', key: 'shop.tgz', secret: 's3' };
  await kubectl.must(['apply', '-f', '-'], aDeployment('example-com-s3', parameters));
  await conditionIs('HasValidBundle', {
    message: expect.stringContaining(`names no hosts: to let core send it to "${host}"`),
  });
  const annotation = `core.rukpak.io/source-hosts=${host}`;
  await kubectl.must(['annotate', 'secret', 's3', '--namespace=rukpak-system', annotation]);
  await conditionIs('Installed', { status: 'True' });
  const [bundle] = await kubectl.list('bundles', 'core.rukpak.io/owner-name=s3');
  expect(bundle).toMatchObject({
    metadata: { annotations: { 'core.rukpak.io/pin': version } },
    status: {
      resolvedSource: { type: 'example-com-s3', parameters: { ...parameters, version } },
    },
  });
  expect(await kubectl.get('configmap', 'from-s3', 'rukpak-system')).toBeDefined();
});

test('says what is wrong with a source, and which there are', async () => {
  await kubectl.must(['apply', '-f', '-'], aDeployment('example-com-s3', { bucket: 'team-a' }));
  await conditionIs('HasValidBundle', {
    message: expect.stringContaining('spec.source.parameters.endpoint: Invalid input'),
  });
  await kubectl.must(['apply', '-f', '-'], aDeployment('example-com-s4', { bucket: 'team-a' }));
  await conditionIs('HasValidBundle', {
    message: expect.stringContaining(
      'source type "example-com-s4" not supported: this process serves configMaps, example-com-s3, git, http, image',
    ),
  });
  await kubectl.deleteNamed('bundledeployment', ['s3']);
  // Without its manager nobody could delete them.
  await eventually(async () => expect(await kubectl.list('bundles')).toEqual([]));
  await kubectl.deleteNamed('secret', ['s3'], { namespace: 'rukpak-system' });
});
