import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { ClassSession } from '../helpers/class-session.ts';
import { eventually } from '../helpers/eventually.ts';
import { copyExample, type ExampleCopy } from '../helpers/example-copy.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { kustomizeFiles } from '../helpers/kustomize/session-files.ts';
import { OwnProcess } from '../helpers/own-process.ts';
import { System } from '../helpers/system.ts';

const kubeconfig = inject('kubeconfig');
const registry = inject('registry');
const kubectl = new Kubectl({ path: inject('kubectl'), kubeconfig });

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
  await kubectl.must(['delete', 'bundledeployments', '--all', '--wait=true', '--timeout=120s']);
  await eventually(async () => expect(await kubectl.list('bundles')).toEqual([]));
  await system?.stop();
}

describe('in the stock manager', () => {
  beforeAll(() => start([`--provisioner=${join(example?.folder ?? '', 'src/class.ts')}`]));
  afterAll(stop);
  declareChecks(aSession('stock'));
});

describe('as a process of its own', () => {
  let own: OwnProcess | undefined;

  beforeAll(async () => {
    await start([]);
    own = await OwnProcess.start({ kubeconfig, registry, folder: example?.folder ?? '' });
  });

  afterAll(async () => {
    await stop();
    await own?.stop();
  });

  declareChecks(aSession('own'));

  test('has a lease and a content server of its own, and ends when it is told to', async () => {
    const lease = await kubectl.get(
      'lease',
      'example-com-kustomize.core.rukpak.io',
      'rukpak-system',
    );
    expect(lease['spec']).toMatchObject({ holderIdentity: expect.stringMatching(/./) });
    expect((await fetch(`${own?.contentAddress}/bundles/none.tgz`)).status).toBe(401);
    await stop();
    expect(await own?.stop()).toBe(0);
  });
});
