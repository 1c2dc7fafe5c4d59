// @module-tag long
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ClassSession } from '../helpers/class-session.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { copyExample, type ExampleCopy } from '../helpers/example-copy.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { kustomizeFiles } from '../helpers/kustomize/session-files.ts';
import { aConfigMap, aDeployment } from '../helpers/objects.ts';
import { OwnProcess } from '../helpers/own-process.ts';
import { plane } from '../helpers/plane.ts';
import { writeKubeconfig } from '../helpers/service-account.ts';
import { System } from '../helpers/system.ts';
import { workerPorts } from '../helpers/worker-ports.ts';

const kubeconfig = plane.kubeconfig;
const registry = plane.registry;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });

let example: ExampleCopy | undefined;
let system: System | undefined;

beforeAll(async () => {
  example = await copyExample('kustomize-class');
});

afterAll(async () => {
  await example?.remove();
});

function aSession(name: string): ClassSession {
  return new ClassSession({
    kubectl,
    registry,
    name,
    className: 'example-com-kustomize',
    config: { path: 'overlays/prod' },
    files: (version) => kustomizeFiles(name, version),
  });
}

function declareChecks(session: ClassSession): void {
  test('takes a BundleDeployment to Installed and Healthy', () => session.installs());
  test('pivots to a new Bundle', () => session.pivots());
  test('prunes what is gone', () => session.prunes());
  test('repairs drift', () => session.repairs());
  test('leaves plain deployments alone', () => session.leavesOthersAlone());
}

async function start(flags: readonly string[]): Promise<void> {
  system = await System.start({ kubeconfig, registry, flags });
}

async function stop(): Promise<void> {
  await kubectl.deleteAll('bundledeployments');
  await eventually(async () => expect(await kubectl.list('bundles')).toEqual([]), patiently);
  await system?.stop();
}

describe('in the stock manager', () => {
  beforeAll(() => start([`--provisioner=${join(example?.folder ?? '', 'src/class.ts')}`]));
  afterAll(stop);
  declareChecks(aSession('stock'));
});

const samples = join(import.meta.dirname, '../../deploy/samples');

describe('as a process of its own', () => {
  const template = join(samples, 'own-process');
  const name = 'example-com-kustomize';
  let own: OwnProcess | undefined;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rukpak-account-'));
    await start([]);
    await kubectl.must(['apply', '--validate=strict', '--kustomize', template]);
    // The process below is what its pod would be, with the rights of its account.
    await kubectl.must(['scale', 'deployment', name, '--replicas=0', '-n', 'rukpak-system']);
    const account = { namespace: 'rukpak-system', name };
    const limited = await writeKubeconfig(kubectl, account, folder);
    own = await OwnProcess.start({
      kubeconfig: limited,
      registry,
      folder: example?.folder ?? '',
    });
  });

  afterAll(async () => {
    await stop();
    await own?.stop();
    await kubectl.must(['delete', '--ignore-not-found', '--kustomize', template]);
    await rm(folder, { recursive: true });
  });

  declareChecks(aSession('own'));

  test('nothing that it asked the API server for was forbidden', () => {
    expect(own?.log).not.toContain('forbidden');
  });

  test('has a lease and a content server of its own, and ends when it is told to', async () => {
    const lease = await kubectl.get('lease', `${name}.core.rukpak.io`, 'rukpak-system');
    expect(lease['spec']).toMatchObject({ holderIdentity: expect.stringMatching(/./) });
    expect((await fetch(`${own?.contentAddress}/bundles/none.tgz`)).status).toBe(401);
    await stop();
    expect(await own?.stop()).toBe(0);
  });
});

describe('behind a URL', () => {
  let server: ChildProcess;

  beforeAll(async () => {
    const [port] = await workerPorts(1);
    const program = join(import.meta.dirname, '../helpers/serve-class.ts');
    const module = join(example?.folder ?? '', 'src/class.ts');
    server = spawn(process.execPath, [program, module, String(port)], { stdio: 'ignore' });
    await once(server, 'spawn');
    await start([`--provisioner-url=example-com-kustomize=http://127.0.0.1:${port}`]);
  });

  afterAll(async () => {
    await stop();
    server.kill('SIGKILL');
  });

  declareChecks(aSession('remote'));
});

describe('in another language', () => {
  let server: ChildProcess;

  beforeAll(async () => {
    const [port] = await workerPorts(1);
    const program = join(samples, 'provisioner-over-http/server.py');
    server = spawn('python3', [program, String(port)], { stdio: 'ignore' });
    await once(server, 'spawn');
    await start([`--provisioner-url=acme-template=http://127.0.0.1:${port}`]);
  });

  afterAll(async () => {
    await stop();
    server.kill('SIGKILL');
  });

  declareChecks(
    new ClassSession({
      kubectl,
      registry,
      name: 'http',
      className: 'acme-template',
      files: templateFiles,
    }),
  );
});

/** For the server of docs/howto/provisioner-over-http.md. */
function templateFiles(version: 1 | 2): Readonly<Record<string, string>> {
  const kept = aConfigMap('http-kept', { version: '$version' });
  return {
    'values.json': JSON.stringify({ version }),
    'templates/web.json': JSON.stringify(aDeployment('http-web', { args: ['$version'] })),
    'templates/kept.json': JSON.stringify(kept),
    ...(version === 1 ? { 'templates/gone.json': JSON.stringify(aConfigMap('http-gone')) } : {}),
  };
}
