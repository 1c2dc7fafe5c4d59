// @module-tag long
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BundleSource } from '../../api/v1alpha1/bundle.ts';
import { eventually } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aBundle, aBundleDeployment, aConfigMap, anImage } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { pushImage } from '../helpers/push-image.ts';
import { RukpakProcess } from '../helpers/rukpak-run.ts';
import { System } from '../helpers/system.ts';

/** What it does is told by the name of the object, up to the first "-": of a Bundle or a deployment. */
const hostileClass = `
import { defineProvisioner, type BundleFiles, type KubernetesObject } from 'rukpak-ts/sdk';

const configMap = (name: string, data: object = {}): KubernetesObject =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data }) as KubernetesObject;

const behaviours: Record<string, () => unknown> = {
  good: () => [configMap('of-the-hostile-class')],
  loop: () => { for (;;); },
  heap: () => { const all: object[] = []; for (;;) all.push(new Array(100_000).fill(all.length)); },
  buffers: () => Buffer.alloc(4 * 1024 ** 3, 1).length,
  text: () => { throw 'just text'; },
  cycle: () => { const data: any = {}; data.self = data; return [configMap('a'), configMap('b', data)]; },
  million: () => new Array(1_000_000).fill(configMap('same')),
  exit: () => process.exit(5),
  stray: () => { setTimeout(() => { throw new Error('stray'); }, 1); return [configMap('stray')]; },
};
const behave = (name = ''): any => behaviours[name.split('-')[0]!]!();

export default defineProvisioner({
  className: 'hostile',
  bundle: async (files: BundleFiles, { metadata }) =>
    metadata.name?.endsWith('-bundle') ? behave(metadata.name) : files,
  deployment: async (_, { metadata }) => behave(metadata.name),
});
`;

let system: System;
let kubectl: Kubectl;
let source: BundleSource;
let folder: string;

beforeAll(async () => {
  const registry = plane.registry;
  folder = await mkdtemp(join(tmpdir(), 'hostile-class-'));
  await writeFile(join(folder, 'hostile.ts'), hostileClass);
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
  const repository = 'hostile-class/plain';
  const layers = [{ files: { 'manifests/a.yaml': JSON.stringify(aConfigMap('hostile-class')) } }];
  await pushImage({ registry, repository, tag: 'v1', layers });
  source = anImage(`${registry}/${repository}:v1`);
  system = await System.start({
    kubeconfig: plane.kubeconfig,
    registry,
    flags: [`--provisioner=${join(folder, 'hostile.ts')}`, '--content-timeout=40s'],
    run: RukpakProcess,
  });
});

afterAll(async () => {
  for (const kind of ['bundledeployments', 'bundles']) {
    await kubectl.deleteAll(kind, { ignoreNotFound: true });
  }
  await system.stop();
  await rm(folder, { recursive: true });
});

async function deployHostile(name: string): Promise<void> {
  const provisionerClassName = 'hostile';
  await kubectl.apply({
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'BundleDeployment',
    metadata: { name },
    spec: { provisionerClassName, template: { spec: { provisionerClassName, source } } },
  });
}

/** Waits until a condition says what became of an object. */
async function says(kind: string, name: string, message: string): Promise<void> {
  const type = kind === 'bundle' ? 'Unpacked' : 'HasValidBundle';
  await eventually(
    async () => {
      const found = conditionOf(await kubectl.get(kind, name), type);
      expect({ name, ...found }).toMatchObject({ name, status: 'False', message });
    },
    { within: 400_000 },
  );
}

async function installed(name: string): Promise<void> {
  await eventually(async () => {
    const found = conditionOf(await kubectl.get('bundledeployment', name), 'Installed');
    if (found?.status !== 'True') throw new Error(`${name}: ${JSON.stringify(found)}`);
  });
}

/**
 * Milliseconds in which a loaded machine may answer; who waits for a loop would answer after forty
 * seconds.
 */
const patience = 10_000;

/** Watches while the work goes on: the slowest answer in milliseconds. */
async function slowestReadiness(work: () => Promise<void>): Promise<number> {
  let slowest = 0;
  const worked = new AbortController();
  const watched = (async () => {
    while (!worked.signal.aborted) {
      const start = performance.now();
      const answer = await fetch(`${system.healthAddress}/readyz`);
      expect(answer.status).toBe(200);
      await answer.text();
      slowest = Math.max(slowest, performance.now() - start);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  await Promise.all([work().finally(() => worked.abort()), watched]);
  return slowest;
}

const memory =
  'class "hostile" needs more than 256 MiB of memory for this content: make it smaller, split it, or allow more (--provisioner-memory)';
const tooLong = 'took longer than the limit of 40 s (--content-timeout)';
const ended =
  'the worker process of class "hostile" ended with exit code 5: what it printed is in the log';
const inDeployment = 'class "hostile", deployment(): ';
const inBundle = 'class "hostile", bundle(): ';

const ofDeployments = {
  heap: memory,
  buffers: memory,
  text: `${inDeployment}just text`,
  cycle: `${inDeployment}object 2 of what class "hostile" made of the bundle cannot be written as JSON: .data.self refers to what it is a part of`,
  million: `${inDeployment}bundle has more than 20000 objects (--max-content-entries): split it`,
  exit: `${inDeployment}${ended}`,
};

const ofBundles = {
  heap: memory,
  buffers: memory,
  text: `${inBundle}just text`,
  cycle: 'class "hostile" returned no files: "files" is not a Map of paths and bytes',
  exit: `${inBundle}${ended}`,
};

test('what a hostile class does is its own affair, and is said', async () => {
  const { pid } = system;
  const slowest = await slowestReadiness(async () => {
    for (const name of ['loop', ...Object.keys(ofDeployments)]) await deployHostile(`${name}-d`);
    for (const name of ['loop', ...Object.keys(ofBundles)]) {
      await kubectl.apply(aBundle({ name: `${name}-bundle`, className: 'hostile', source }));
    }
    await says('bundledeployment', 'loop-d', `${inDeployment}${tooLong}`);
    await says('bundle', 'loop-bundle', `${inBundle}${tooLong}`);
    // They would be tried again, before others of their class.
    await kubectl.deleteNamed('bundledeployment', ['loop-d']);
    await kubectl.deleteNamed('bundle', ['loop-bundle']);
    for (const [name, expected] of Object.entries(ofDeployments)) {
      await says('bundledeployment', `${name}-d`, expected);
    }
    for (const [name, expected] of Object.entries(ofBundles)) {
      await says('bundle', `${name}-bundle`, expected);
    }
    await deployHostile('stray-d');
    await deployHostile('good-d');
    await installed('good-d');
    await installed('stray-d');
  });
  expect(slowest).toBeLessThan(patience);
  expect(system.pid).toBe(pid);
});

test('nobody waits for deployments and Bundles that loop', async () => {
  const { pid } = system;
  const names = Array.from({ length: 20 }, (_, index) => `loop-${index}`);
  const slowest = await slowestReadiness(async () => {
    for (const name of names) {
      await deployHostile(name);
      await kubectl.apply(aBundle({ name: `${name}-bundle`, className: 'hostile', source }));
    }
    await kubectl.apply(aBundleDeployment({ name: 'bystander', source }));
    await installed('bystander');
    // Two of forty at a time, each for forty seconds: most have not had their turn.
    const said = await Promise.all(
      names.map(async (name) => JSON.stringify(await kubectl.get('bundledeployment', name))),
    );
    expect(said.filter((text) => !text.includes(tooLong)).length).toBeGreaterThan(10);
    await kubectl.deleteNamed('bundledeployments', names, { wait: false });
    await kubectl.deleteNamed(
      'bundles',
      names.map((name) => `${name}-bundle`),
    );
  });
  expect(slowest).toBeLessThan(patience);
  expect(system.pid).toBe(pid);
});
