import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { KubernetesObject } from '../../api/meta.ts';
import { remoteClasses } from '../../cmd/classes/provisioner-flags.ts';
import { addCoreFlags, type CoreFlags } from '../../cmd/flags/core-flags.ts';
import { tarParts } from '../../core/content/index.ts';
import { generateCertificates } from '../../deploy/local/cluster/certificates.ts';
import {
  type AnswerCall,
  answerJson,
  answerWith,
  FakeClassServer,
  jsonIn,
} from '../helpers/class-server.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { followHowto } from '../helpers/howto.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { containerArgs } from '../helpers/local-pod.ts';
import { aBundleDeployment, aConfigMap } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { plainFiles, pushContent } from '../helpers/push-content.ts';
import { unchanged } from '../helpers/remote-class-fixture.ts';
import { System } from '../helpers/system.ts';
import { workerPorts } from '../helpers/worker-ports.ts';

/** A class of thirty lines of Python, as docs/howto/provisioner-over-http.md shows it. */
const root = join(import.meta.dirname, '../..');
const samples = 'deploy/samples/provisioner-over-http';
const page = 'provisioner-over-http.md';
const kubeconfig = plane.kubeconfig;
const registry = plane.registry;

let kubectl: Kubectl;
let system: System;
let server: ChildProcess | undefined;
let port: number;
/** Asks for a client certificate and a token. */
let guarded: FakeClassServer;
/** Takes requests, and answers none. */
let hung: FakeClassServer;
let folder: string;
const token = 'a-token-of-the-test';

/** With the very program of the page. */
/** Unless it runs. */
async function startServer(): Promise<void> {
  if (isServing()) return;
  server = spawn('python3', [`${samples}/server.py`, String(port)], { cwd: root, stdio: 'ignore' });
  await once(server, 'spawn');
}

function isServing(): boolean {
  return server !== undefined && server.exitCode === null && server.signalCode === null;
}

async function stopServer(): Promise<void> {
  if (server === undefined || !isServing()) return;
  const ended = once(server, 'exit');
  server.kill('SIGKILL');
  await ended;
}

beforeAll(async () => {
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
  [port = 0] = await workerPorts(1);
  folder = await mkdtemp(join(tmpdir(), 'rukpak-acme-'));
  const { ca, server: own, admin } = await generateCertificates();
  const files = { token, 'ca.crt': ca.cert, 'tls.crt': admin.cert, 'tls.key': admin.key };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const tls = { ...own, ca: ca.cert, requestCert: true };
  const handlers = ['bundle', 'configure', 'deployment', 'inputs'];
  const description = { handlers, uses: ['cluster', 'seed'] };
  guarded = await FakeClassServer.start({ className: 'acme-guarded', description, tls });
  hung = await FakeClassServer.start({ className: 'acme-hung' });
  hung.answers.set('/v1/class', () => undefined);
  const flags = [
    `--provisioner-url=acme-template=http://127.0.0.1:${port}`,
    `--provisioner-url=acme-hung=${hung.url}`,
    `--provisioner-url=acme-guarded=${guarded.url}`,
    `--provisioner-url-credentials=acme-guarded=${folder}`,
  ];
  system = await System.start({ kubeconfig, registry, flags });
});

afterAll(async () => {
  await kubectl.deleteAll('bundledeployments,bundles', { ignoreNotFound: true });
  await eventually(async () => expect(await kubectl.list('bundles')).toEqual([]), patiently);
  const contents = ['greeting-values', 'greeting-v1', 'greeting-v2'];
  await eventually(async () => {
    await kubectl.deleteNamed('configmap', contents, {
      namespace: 'rukpak-system',
      ignoreNotFound: true,
    });
  }, patiently);
  await system.stop();
  await stopServer();
  await guarded.stop();
  await hung.stop();
  await rm(folder, { recursive: true, force: true });
});

/** A BundleDeployment of the sample, and nothing of it is there yet. */
async function applySample(): Promise<void> {
  await kubectl.must(['apply', '-f', join(root, samples, 'greeting.yaml')]);
}

async function conditionIs(type: string, expected: object): Promise<void> {
  await eventually(async () => {
    const deployment = await kubectl.get('bundledeployment', 'greeting');
    expect(conditionOf(deployment, type)).toMatchObject(expected);
  });
}

async function removeSample(): Promise<void> {
  await kubectl.must([
    'delete',
    'bundledeployment',
    'greeting',
    '--cascade=foreground',
    '--timeout=600s',
  ]);
  expect(await kubectl.exists('deployment', 'greeting', 'default')).toBe(false);
  await eventually(async () => {
    // Those that go at the first try are not there at the next one.
    const contents = ['greeting-values', 'greeting-v1', 'greeting-v2'];
    await kubectl.deleteNamed('configmap', contents, {
      namespace: 'rukpak-system',
      ignoreNotFound: true,
    });
  }, patiently);
}

/** A BundleDeployment of one ConfigMap, by these classes. */
async function rollOut(
  name: string,
  classes: { readonly bundle: string; readonly deployment: string },
): Promise<void> {
  const files = plainFiles([aConfigMap(name)]);
  const source = await pushContent({ registry, name: 'over-http', version: 1, files });
  const object = aBundleDeployment({ name, className: classes.bundle, source });
  const { spec, ...rest } = object as KubernetesObject & { spec: object };
  const provisionerClassName = classes.deployment;
  await kubectl.apply({ ...rest, spec: { ...spec, provisionerClassName } });
}

async function installed(name: string, within = 180_000): Promise<void> {
  await eventually(
    async () => {
      const deployment = await kubectl.get('bundledeployment', name);
      expect(conditionOf(deployment, 'Installed')).toMatchObject({ status: 'True' });
    },
    { within },
  );
}

test('the page shows the server as it is, and the commands that start it', async () => {
  const text = await readFile(join(root, 'docs/howto', page), 'utf8');
  const program = await readFile(join(root, samples, 'server.py'), 'utf8');
  expect(text).toContain(`\`\`\`python\n${program}\`\`\``);
  expect(text).toContain(`python3 ${samples}/server.py 9000\n`);
});

test('content waits for a server that comes later, as a sidecar may', async () => {
  await applySample();
  await eventually(async () => {
    const [bundle] = await kubectl.list('bundles', 'core.rukpak.io/owner-name=greeting');
    expect(bundle === undefined ? undefined : conditionOf(bundle, 'Unpacked')).toMatchObject({
      status: 'False',
      reason: 'UnpackPending',
      message: `class "acme-template" at http://127.0.0.1:${port}: dial tcp 127.0.0.1:${port}: connect: connection refused`,
    });
  });
  await startServer();
  await conditionIs('Installed', { status: 'True' });
  await conditionIs('Healthy', { status: 'True' });
  await removeSample();
});

test('the howto: installed, healthy, changed, pivoted, pruned and deleted', {
  tags: 'long',
}, async () => {
  await startServer();
  const printed = await followHowto({ page, kubectl, kubeconfig }, 'Use it');
  expect(printed).toContain('Good morning');
  expect(printed).toContain(
    `class "acme-template" at http://127.0.0.1:${port}: missing or wrong: 'content/values.json'`,
  );
  expect(await kubectl.list('bundledeployments')).toEqual([]);
  expect(await kubectl.exists('deployment', 'greeting', 'default')).toBe(false);
  expect(await kubectl.exists('configmap', 'greeting-texts', 'default')).toBe(false);
});

test('a refusal is told in its words, and what is installed stays', async () => {
  await applySample();
  await conditionIs('Healthy', { status: 'True' });
  const config = JSON.stringify({ spec: { config: { greeting: 'say "hi"' } } });
  await kubectl.must(['patch', 'bundledeployment', 'greeting', '--type=merge', '-p', config]);
  const place = `class "acme-template" at http://127.0.0.1:${port}`;
  await conditionIs('HasValidBundle', {
    status: 'False',
    reason: 'BundleLoadFailed',
    message: expect.stringContaining(`${place}: missing or wrong: Expecting ',' delimiter`),
  });
  expect(await kubectl.exists('configmap', 'greeting-texts', 'default')).toBe(true);
  await kubectl.must([
    'patch',
    'bundledeployment',
    'greeting',
    '--type=json',
    '-p',
    '[{"op":"remove","path":"/spec/config"}]',
  ]);
  await conditionIs('HasValidBundle', { status: 'True' });
  await eventually(async () => {
    const texts = await kubectl.get('configmap', 'greeting-texts', 'default');
    expect(texts['data']).toEqual({ greeting: 'Hello' });
  });
});

test('drift is repaired, also while the server is away; plain deployments do not notice', async () => {
  const plain = 'core-rukpak-io-plain';
  await rollOut('beside-http', { bundle: plain, deployment: plain });
  await installed('beside-http');
  const before = await kubectl.get('configmap', 'beside-http', 'default');
  await stopServer();
  await kubectl.deleteNamed('configmap', ['greeting-texts'], { namespace: 'default' });
  await eventually(async () => {
    const texts = await kubectl.get('configmap', 'greeting-texts', 'default');
    expect(texts['data']).toEqual({ greeting: 'Hello' });
  });
  await startServer();
  const scale = ['scale', 'deployment', 'greeting', '-n', 'default', '--replicas=5'];
  await kubectl.must(scale);
  await eventually(async () => {
    const { spec } = (await kubectl.get('deployment', 'greeting', 'default')) as unknown as {
      spec: { replicas: number };
    };
    expect(spec.replicas).toBe(1);
  });
  const after = await kubectl.get('configmap', 'beside-http', 'default');
  expect(after.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  await removeSample();
});

function ifKnown(answer: AnswerCall): AnswerCall {
  return (response, received) => {
    if (received.headers.authorization === `Bearer ${token}`) return answer(response, received);
    answerJson(response, { message: 'who are you?' }, 401);
  };
}

test('a server that wants token and client certificate is shown both, and given what it asks for', async () => {
  guarded.answers.set('/v1/bundle', ifKnown(unchanged));
  guarded.answers.set('/v1/configure', ifKnown(unchanged));
  guarded.answers.set(
    '/v1/deployment',
    ifKnown((response) => answerJson(response, [aConfigMap('guarded')])),
  );
  const input = { kind: 'ConfigMap', name: 'guarded-input', key: 'text' };
  const absent = { ...input, name: 'nowhere', optional: true };
  guarded.answers.set(
    '/v1/inputs',
    ifKnown((response) => answerJson(response, [input, absent])),
  );
  const metadata = { name: 'guarded-input', namespace: 'rukpak-system' };
  await kubectl.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text: 'given' } });
  await rollOut('guarded', { bundle: 'acme-guarded', deployment: 'acme-guarded' });
  await installed('guarded');
  expect(await kubectl.exists('configmap', 'guarded', 'default')).toBe(true);
  const calls = guarded.received.filter(({ call }) => call === 'POST /v1/deployment');
  // From the first on, although nobody knew before what the class uses.
  expect(jsonIn(calls[0]!, 'context.json')).toMatchObject({
    inputs: [Buffer.from('given').toString('base64'), null],
    cluster: { version: expect.stringMatching(/^v1\./), systemNamespace: 'rukpak-system' },
    seed: expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/),
  });
  expect(system.log).not.toContain(token);
  await kubectl.deleteNamed('configmap', ['guarded-input'], { namespace: 'rukpak-system' });
});

test('content that a server adapts is deployed by another class', async () => {
  const entries = Object.entries(plainFiles([aConfigMap('adapted')]));
  const parts = tarParts(entries.map(([path, text]) => ({ path, content: Buffer.from(text) })));
  const answer = { type: 'application/x-tar', body: Buffer.concat([...parts]) };
  guarded.answers.set('/v1/bundle', ifKnown(unchanged));
  guarded.answers.set(
    '/v1/configure',
    ifKnown((response) => answerWith(response, answer)),
  );
  await rollOut('stored', { bundle: 'acme-guarded', deployment: 'core-rukpak-io-plain' });
  await installed('stored');
  expect(await kubectl.exists('configmap', 'adapted', 'default')).toBe(true);
  expect(await kubectl.exists('configmap', 'stored', 'default')).toBe(false);
  const calls = guarded.received.filter(({ call }) => call === 'POST /v1/configure');
  const stored = calls.find(({ files }) => files['object.json']?.includes('"name":"stored"'));
  expect(jsonIn(stored!, 'context.json')).toMatchObject({
    inputs: [],
    cluster: { systemNamespace: 'rukpak-system' },
  });
});

test('a server that never answers holds up none of other classes, and no deletion', async () => {
  for (let index = 0; index < 12; index += 1) {
    const plain = 'core-rukpak-io-plain';
    await rollOut(`hung-bundle-${index}`, { bundle: 'acme-hung', deployment: 'acme-hung' });
    await rollOut(`hung-deployment-${index}`, { bundle: plain, deployment: 'acme-hung' });
  }
  await eventually(() => expect(hung.received.length).toBeGreaterThanOrEqual(4));
  await rollOut('beside-hung', {
    bundle: 'core-rukpak-io-plain',
    deployment: 'core-rukpak-io-plain',
  });
  // Far less than --content-timeout, after which the others would make room.
  await installed('beside-hung', 100_000);
  expect(hung.received.every(({ call }) => call === 'GET /v1/class')).toBe(true);
  await kubectl.deleteAll('bundledeployments');
  await eventually(async () => expect(await kubectl.list('bundles')).toEqual([]), patiently);
});

test('the sidecar is beside core, and its flag is one that core takes', async () => {
  const text = await kubectl.must(['kustomize', join(root, samples)]);
  const objects = parseAllDocuments(text).map((each) => each.toJS() as KubernetesObject);
  const core = objects.find(
    ({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'core',
  );
  if (core === undefined) throw new Error('there is no Deployment core');
  const [, ...args] = containerArgs(core);
  const flags = addCoreFlags(new Command().exitOverride()).parse(args, { from: 'user' });
  expect(remoteClasses(flags.opts<CoreFlags>())).toMatchObject([
    { className: 'acme-template', url: 'http://127.0.0.1:9000' },
  ]);
  const { containers } = (core['spec'] as { template: { spec: { containers: object[] } } }).template
    .spec;
  expect(containers[1]).toMatchObject({
    name: 'acme-template',
    command: ['python3', '-u', '/app/server.py', '9000'],
  });
  const names = objects
    .filter(({ kind }) => kind === 'ConfigMap')
    .map(({ metadata }) => metadata.name);
  expect(names).toContainEqual(expect.stringMatching(/^acme-template-/));
});
