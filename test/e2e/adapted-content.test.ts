import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { annotation } from '../../api/v1alpha1/labels.ts';
import { eventually } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aBundleDeployment, aConfigMap, aCRD } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { pushContent } from '../helpers/push-content.ts';
import { System } from '../helpers/system.ts';

/** A third party's class: content says the name of a ConfigMap, and the config what is in it. */
const paintClass = `
import { defineProvisioner, TerminalError, WaitingError } from 'rukpak-ts/sdk';

const configuredOnly = 'the paint is yet to be chosen: set spec.config';
const encode = (value: object) => new TextEncoder().encode(JSON.stringify(value));

export default defineProvisioner({
  className: 'paint',
  uses: ['cluster'],
  bundle: async (files, { metadata }) => {
    const isConfigured = metadata.annotations?.['core.rukpak.io/configured'] === 'true';
    if (files.files.has('choose') && !isConfigured) throw new TerminalError(configuredOnly);
    return files;
  },
  configure: async (files, { spec }, { cluster }) => {
    const { colour, needs } = (spec.config ?? {}) as { colour?: string; needs?: string };
    if (colour === 'endless') for (;;);
    if (files.files.has('choose') && spec.config === undefined) throw new TerminalError(configuredOnly);
    if (needs !== undefined && !cluster?.apiVersions.includes(needs)) {
      throw new WaitingError('kind ' + needs + ' is not there yet: install it');
    }
    const name = new TextDecoder().decode(files.files.get('name'));
    const data = { colour: colour ?? 'none', version: cluster?.version ?? '' };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data };
    return { files: new Map([['manifests/all.json', encode(object)]]), directories: new Set(['manifests']) };
  },
});
`;

const registry = plane.registry;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });

let folder: string;
let system: System;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'paint-class-'));
  await writeFile(join(folder, 'paint.ts'), paintClass);
  const flags = [`--provisioner=${join(folder, 'paint.ts')}`, '--content-timeout=40s'];
  system = await System.start({ kubeconfig: plane.kubeconfig, registry, flags });
});

afterAll(async () => {
  for (const kind of ['bundledeployments', 'bundles']) {
    await kubectl.deleteAll(kind, { ignoreNotFound: true });
  }
  await system.stop();
  await rm(folder, { recursive: true });
});

interface Wanted {
  readonly name: string;
  readonly config?: object;
  /** More files. */
  readonly files?: Readonly<Record<string, string>>;
}

/** A deployment of the plain class, of content that is unpacked by the class of the test. */
async function rollOut({ name, config, files = {} }: Wanted): Promise<void> {
  const source = await pushContent({ registry, name, version: 1, files: { name, ...files } });
  await kubectl.apply(withConfig(aBundleDeployment({ name, className: 'paint', source }), config));
}

function withConfig(deployment: object, config: object | undefined): object {
  const { spec } = deployment as { readonly spec: object };
  return config === undefined ? deployment : { ...deployment, spec: { ...spec, config } };
}

async function painted(name: string, colour: string): Promise<KubernetesObject> {
  return await eventually(async () => {
    const deployment = await kubectl.get('bundledeployment', name);
    expect(conditionOf(deployment, 'HasValidBundle')).toMatchObject({ status: 'True' });
    expect(conditionOf(deployment, 'Installed')).toMatchObject({ status: 'True' });
    expect(await kubectl.get('configmap', name, 'default')).toMatchObject({ data: { colour } });
    return deployment;
  });
}

async function notValid(name: string, reason: string, time = {}): Promise<string> {
  return await eventually(async () => {
    const found = conditionOf(await kubectl.get('bundledeployment', name), 'HasValidBundle');
    expect(found).toMatchObject({ status: 'False', reason });
    return found?.message ?? '';
  }, time);
}

async function onlyBundle(name: string): Promise<KubernetesObject> {
  const bundles = await kubectl.list('bundles', `core.rukpak.io/owner-name=${name}`);
  expect(bundles).toHaveLength(1);
  return bundles[0]!;
}

function marksOf({ metadata }: KubernetesObject): string | undefined {
  return metadata.annotations?.[annotation.configured];
}

test('another config adapts the content of the same Bundle again', async () => {
  const name = 'paint-again';
  await rollOut({ name, config: { colour: 'blue' } });
  await painted(name, 'blue');
  const bundle = await onlyBundle(name);
  expect(marksOf(bundle)).toBe('true');
  await rollOut({ name, config: { colour: 'green' } });
  await painted(name, 'green');
  expect(await onlyBundle(name)).toEqual(bundle);
  await system.terminate();
  await system.restart();
  await painted(name, 'green');
});

test('without a config content is adapted too, and told of the cluster', async () => {
  const name = 'paint-none';
  await rollOut({ name });
  await painted(name, 'none');
  const { data } = (await kubectl.get('configmap', name, 'default')) as unknown as {
    readonly data: { readonly version: string };
  };
  expect(data.version).toMatch(/^v1\./);
  expect(marksOf(await onlyBundle(name))).toBeUndefined();
});

test('a Bundle that needs a config is tried again when one comes, and refused when it goes', async () => {
  const name = 'paint-chosen';
  const files = { choose: '' };
  await rollOut({ name, files });
  expect(await notValid(name, 'UnpackFailed')).toContain('yet to be chosen: set spec.config');
  const { uid } = (await onlyBundle(name)).metadata;
  await rollOut({ name, files, config: { colour: 'red' } });
  await painted(name, 'red');
  const unpacked = await onlyBundle(name);
  expect(unpacked.metadata.uid).toBe(uid);
  expect(marksOf(unpacked)).toBe('true');
  const patch = '[{"op":"remove","path":"/spec/config"}]';
  await kubectl.must(['patch', 'bundledeployment', name, '--type=json', `--patch=${patch}`]);
  expect(await notValid(name, 'BundleLoadFailed')).toBe(
    'class "paint", configure(): the paint is yet to be chosen: set spec.config',
  );
  const left = await onlyBundle(name);
  expect(marksOf(left)).toBeUndefined();
  // What is unpacked stays so.
  expect(left['status']).toEqual(unpacked['status']);
  expect(await kubectl.get('configmap', name, 'default')).toMatchObject({
    data: { colour: 'red' },
  });
});

test('what a class waits for is told, and seen as soon as the cluster serves it', async () => {
  const name = 'paint-waits';
  const needs = 'e2e.example.com/v1/Brush';
  await rollOut({ name, config: { colour: 'blue', needs } });
  const message = await notValid(name, 'BundleLoadFailed');
  expect(message).toBe(`class "paint", configure(): kind ${needs} is not there yet: install it`);
  await kubectl.apply(aCRD('Brush'));
  await painted(name, 'blue');
  await kubectl.deleteNamed('crd', ['brushs.e2e.example.com']);
});

test('a class that does not come to an end holds up deployments of its own only', {
  tags: ['long'],
}, async () => {
  // More than there are workers for all.
  const endless = Array.from({ length: 10 }, (_, index) => `paint-endless-${index}`);
  for (const name of endless) await rollOut({ name });
  for (const name of endless) await painted(name, 'none');
  for (const name of endless) await rollOut({ name, config: { colour: 'endless' } });
  const name = 'paint-neighbour';
  const files = { 'manifests/a.json': JSON.stringify(aConfigMap(name, { colour: 'plain' })) };
  const source = await pushContent({ registry, name, version: 1, files });
  await kubectl.apply(aBundleDeployment({ name, source }));
  await painted(name, 'plain');
  const limit =
    'class "paint", configure(): took longer than the limit of 40 s (--content-timeout)';
  // A turn is 40 s long, and few have theirs at a time.
  const time = { within: 600_000 };
  expect(await notValid('paint-endless-0', 'BundleLoadFailed', time)).toBe(limit);
  await kubectl.deleteNamed('bundledeployment', endless);
});

test('a class that adapts nothing is asked for nothing more', async () => {
  const name = 'paint-plain';
  const files = { 'manifests/a.json': JSON.stringify(aConfigMap(name, { colour: 'plain' })) };
  const source = await pushContent({ registry, name, version: 1, files });
  await kubectl.apply(withConfig(aBundleDeployment({ name, source }), { colour: 'none' }));
  await painted(name, 'plain');
  expect(marksOf(await onlyBundle(name))).toBeUndefined();
});
