// @module-tag long

import { readdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import type { Bundle, BundleDeployment } from '../../api/v1alpha1/index.ts';
import { annotation, bundleResource, label } from '../../api/v1alpha1/index.ts';
import { connect, type KubeConnection } from '../../core/platform/kube/index.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { everyObject, idOf } from '../helpers/every-object.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aBundleDeployment } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { pushContent } from '../helpers/push-content.ts';
import { RukpakProcess } from '../helpers/rukpak-run.ts';
import { seededRandom } from '../helpers/seeded-random.ts';
import { System } from '../helpers/system.ts';
import { subjects } from './crash-subjects.ts';

const givenSeed = process.env['RUKPAK_CRASH_SEED'];
const seed = givenSeed === undefined ? Math.floor(Math.random() * 1e6) : Number(givenSeed);
const random = seededRandom(seed);
/** For all twenty to settle after the last crash. */
const settling = { within: 600_000, every: 1_000 };
/** Longer than a test waits for that twice, so that it says what it waited for. */
const testTimeout = 1_500_000;

let system: System;
let kubectl: Kubectl;
let kube: KubeConnection;
/** Milliseconds from the start of the process to its readiness. */
let startup: number;
/** What was there before anything was installed. */
let before: ReadonlyMap<string, KubernetesObject>;

beforeAll(async () => {
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
  kube = connect({ kubeconfig: plane.kubeconfig, userAgent: 'tests' });
  system = await System.start({
    kubeconfig: plane.kubeconfig,
    registry: plane.registry,
    run: RukpakProcess,
  });
  await system.terminate();
  const started = Date.now();
  await system.restart();
  startup = Date.now() - started;
  before = await everyObject(kubectl);
});

afterAll(async () => {
  try {
    await system.kill();
    await system.restart();
    await kubectl.deleteAll('bundledeployments', { ignoreNotFound: true });
    await eventually(async () => expect(await kubectl.list('bundles')).toEqual([]), patiently);
  } finally {
    await system.stop();
    await kube.close();
  }
});

async function contentOf(version: number): Promise<readonly object[]> {
  const deployments: object[] = [];
  for (const subject of subjects) {
    const { name, className } = subject;
    const content = { registry: plane.registry, name, version, files: subject.files(version) };
    deployments.push(aBundleDeployment({ name, className, source: await pushContent(content) }));
  }
  return deployments;
}

interface CrashPlan {
  readonly times: number;
  readonly version: number;
}

/** Applies all, and meanwhile kills it at random moments and starts it again each time. */
async function crash(plan: CrashPlan): Promise<void> {
  const deployments = await contentOf(plan.version);
  const [progress] = await Promise.all([
    killings(plan),
    // Its webhooks are down now and then.
    eventually(() => kubectl.apply(...deployments), settling),
  ]);
  await system.ready();
  const seen = progress.map(({ unpacked, active }) => `${unpacked}/${active}`).join(' ');
  console.log(
    `crash: seed ${seed}, ready after ${startup} ms, version ${plan.version} unpacked/active at each kill: ${seen}`,
  );
  // Otherwise this run has shown nothing.
  expect(Math.min(...progress.map(({ active }) => active))).toBeLessThan(subjects.length);
}

async function killings({ times, version }: CrashPlan): Promise<readonly Progress[]> {
  const progress: Progress[] = [];
  for (let time = 0; time < times; time += 1) {
    // However fast all are installed: the first time they are not.
    await (time === 0 ? firstUnpacked(version) : randomMoment());
    await system.kill();
    progress.push(await progressOf(version));
    system.launch();
  }
  return progress;
}

async function firstUnpacked(version: number): Promise<void> {
  await eventually(
    async () => {
      const bundles = (await kube.client.list(bundleResource)).items as readonly Bundle[];
      const found = bundles.filter((bundle) => isOfVersion(bundle, version));
      expect(found.map(({ status }) => status?.phase)).toContain('Unpacked');
    },
    { every: 20 },
  );
}

/** With what is kept of Bundles that are gone; the folder for that stays when it is empty. */
async function storedFiles(): Promise<readonly string[]> {
  const options = { recursive: true, withFileTypes: true } as const;
  const found = await readdir(system.archives, options);
  return found.filter((entry) => entry.isFile()).map(({ name }) => name);
}

async function theBundles(): Promise<readonly Bundle[]> {
  return (await kubectl.list('bundles')) as readonly Bundle[];
}

async function theDeployments(): Promise<readonly BundleDeployment[]> {
  return (await kubectl.list('bundledeployments')) as readonly BundleDeployment[];
}

/**
 * One life in four is too short to be ready; most others are short enough to leave work over. How
 * long a start takes tells how fast this machine is.
 */
async function randomMoment(): Promise<void> {
  const [kind, moment] = [random(), random()];
  if (kind < 0.25) return await delay(moment * startup);
  await system.ready();
  await delay(moment * startup);
}

/** How many Bundles of a version there are content of, and how many are in use. */
interface Progress {
  readonly unpacked: number;
  readonly active: number;
}

async function progressOf(version: number): Promise<Progress> {
  const bundles = (await theBundles()).filter((bundle) => isOfVersion(bundle, version));
  const names = new Set(bundles.map(({ metadata }) => metadata.name));
  const deployments = await theDeployments();
  return {
    unpacked: bundles.filter(({ status }) => status?.phase === 'Unpacked').length,
    active: deployments.filter(({ status }) => names.has(status?.activeBundle)).length,
  };
}

function isOfVersion({ spec }: Bundle, version: number): boolean {
  return spec.source.image?.ref.endsWith(`:v${version}`) === true;
}

async function settled(version: number): Promise<void> {
  const deployments = await theDeployments();
  expect(deployments).toHaveLength(subjects.length);
  for (const deployment of deployments) {
    const { metadata, status } = deployment;
    const conditions = ['HasValidBundle', 'Installed', 'Healthy'].map(
      (type) => conditionOf(deployment, type)?.status,
    );
    expect(conditions, metadata.name).toEqual(['True', 'True', 'True']);
    expect(status?.observedGeneration).toBe(metadata.generation);
  }
  const bundles = await theBundles();
  const names = bundles.map(({ metadata }) => metadata.name ?? '');
  const active = deployments.map(({ status }) => status?.activeBundle ?? '');
  expect(names.toSorted()).toEqual(active.toSorted());
  for (const bundle of bundles) {
    expect(bundle.status?.phase).toBe('Unpacked');
    expect(bundle.metadata.deletionTimestamp).toBeUndefined();
    expect(isOfVersion(bundle, version)).toBe(true);
  }
  const archives = names.map((name) => `${name}.tgz`);
  expect((await storedFiles()).toSorted()).toEqual(archives.toSorted());
}

async function added(): Promise<readonly KubernetesObject[]> {
  const now = await everyObject(kubectl);
  return [...now].filter(([id]) => !before.has(id)).map(([, object]) => object);
}

function isInstalled({ kind, metadata }: KubernetesObject): boolean {
  return metadata.labels?.[label.ownerKind] === 'BundleDeployment' && kind !== 'Bundle';
}

/** Made by Kubernetes for what we installed. */
function isDerived({ kind, metadata: { name = '', namespace } }: KubernetesObject): boolean {
  if (namespace === 'pkg-system' && ['default', 'kube-root-ca.crt'].includes(name)) return true;
  return ['APIService', 'Pod', 'ReplicaSet'].includes(kind);
}

async function exactlyWhatIsWanted(version: number): Promise<void> {
  const present = await added();
  const owners = new Map(
    present.filter(({ kind }) => kind === 'BundleDeployment').map((o) => [o.metadata.name, o]),
  );
  const expected = subjects.flatMap((subject) =>
    subject
      .objects(version)
      .map((object) => `${idOf(object as KubernetesObject)} of ${subject.name}`),
  );
  const installed = present.filter(isInstalled);
  const found = installed.map(
    (object) => `${idOf(object)} of ${object.metadata.labels?.[label.ownerName]}`,
  );
  expect(found.toSorted()).toEqual(expected.toSorted());
  for (const { metadata } of installed) {
    const owner = owners.get(metadata.labels?.[label.ownerName])?.metadata;
    expect(metadata.annotations?.[annotation.trackingID]).toMatch(new RegExp(`^${owner?.uid}:`));
    expect(metadata.labels?.['applyset.kubernetes.io/part-of']).toBe(
      owner?.labels?.['applyset.kubernetes.io/id'],
    );
  }
  const others = present.filter((object) => !isInstalled(object) && !isDerived(object));
  const kinds = new Set(others.map(({ kind }) => kind));
  expect([...kinds].toSorted()).toEqual(['Bundle', 'BundleDeployment']);
  expectEachAppliedOnce(present, version);
}

/** A workload that had been changed twice for one version would be a generation further. */
function expectEachAppliedOnce(present: readonly KubernetesObject[], version: number): void {
  const workloads = present.filter(({ kind }) => kind === 'Deployment');
  for (const { metadata } of workloads) expect(metadata.generation, metadata.name).toBe(version);
  const replicaSets = present.filter(({ kind }) => kind === 'ReplicaSet');
  expect(replicaSets).toHaveLength(workloads.length * version);
}

describe(`killed at random moments (RUKPAK_CRASH_SEED=${seed} repeats them)`, {
  timeout: testTimeout,
}, () => {
  test('ten times while twenty install: all are installed once, nothing is left over', async () => {
    await crash({ times: 10, version: 1 });
    await eventually(() => settled(1), settling);
    await eventually(() => exactlyWhatIsWanted(1), settling);
  });

  test('three times while all twenty are upgraded: all have pivoted, old objects are pruned', async () => {
    await crash({ times: 3, version: 2 });
    await eventually(() => settled(2), settling);
    await eventually(() => exactlyWhatIsWanted(2), settling);
  });

  test('once while all are deleted: nothing is left', async () => {
    await kubectl.deleteAll('bundledeployments', { wait: false });
    await delay(random() * startup);
    await system.kill();
    await system.restart();
    await eventually(async () => {
      expect((await added()).map(idOf)).toEqual([]);
      expect(await storedFiles()).toEqual([]);
    }, settling);
  });
});
