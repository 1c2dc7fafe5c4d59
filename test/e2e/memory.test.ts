import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BundleSource, BundleStatus } from '../../api/v1alpha1/bundle.ts';
import { watchMemory } from '../bench/process-memory.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { aBundle, aConfigMap, anImage } from '../helpers/objects.ts';
import { servePack } from '../helpers/pack-server.ts';
import { aChain } from '../helpers/packs.ts';
import { plane } from '../helpers/plane.ts';
import { plainFiles, pushContent } from '../helpers/push-content.ts';
import { RukpakProcess } from '../helpers/rukpak-run.ts';
import { startStallingServers } from '../helpers/stalling-servers.ts';
import { System } from '../helpers/system.ts';

const mebibyte = 1024 * 1024;

/** Of core's container in deploy/base; its memory budget is half of it, as without a container. */
const shippedMegabytes = 2048;

const { registry } = plane;
let kubectl: Kubectl;
let system: System;

beforeAll(async () => {
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
  const { kubeconfig } = plane;
  const flags = ['--memory-budget=64'];
  system = await System.start({ kubeconfig, registry, flags, run: RukpakProcess });
  await pushContent({ registry, name: 'memory', version: 1, files: plainFiles([aConfigMap('a')]) });
});

afterAll(async () => {
  await system.stop();
});

function names(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `memory-${index}`);
}

async function statuses(): Promise<ReadonlyMap<string, BundleStatus>> {
  const bundles = await kubectl.list('bundles');
  return new Map(
    bundles.map(({ metadata, status = {} }) => [metadata.name ?? '', status as BundleStatus]),
  );
}

async function restartAsShipped(): Promise<void> {
  await system.terminate();
  // A busy machine takes long to fill the memory.
  await system.restart(['--content-timeout=10m']);
}

/** Has Bundles of these sources, and a good one that comes when they are under way. */
async function measured(
  sources: readonly BundleSource[],
  underWay: () => Promise<void>,
): Promise<{ readonly megabytes: number; readonly seconds: number }> {
  const watched = watchMemory(() => system.pid ?? 0);
  try {
    await kubectl.apply(
      ...sources.map((source, index) => aBundle({ name: `memory-${index}`, source })),
    );
    await eventually(underWay, patiently);
    const start = performance.now();
    await kubectl.apply(
      aBundle({ name: 'memory-good', source: anImage(`${registry}/e2e/memory:v1`) }),
    );
    await eventually(async () => {
      expect((await statuses()).get('memory-good')?.phase).toBe('Unpacked');
    }, patiently);
    const seconds = (performance.now() - start) / 1000;
    return { megabytes: Math.round(watched.stop().tree), seconds };
  } finally {
    watched.stop();
    const all = [...names(sources.length), 'memory-good'];
    await kubectl.deleteNamed('bundles', all, { ignoreNotFound: true });
  }
}

async function stall(count: number, megabytes: number) {
  await using servers = await startStallingServers(count, megabytes * mebibyte);
  const sources = servers.urls.map((url) => ({ type: 'http', http: { url } }) as const);
  return await measured(sources, async () => {
    const found = [...(await statuses()).values()];
    const messages = found.map(({ conditions }) => conditions?.[0]?.message);
    expect(messages).toContainEqual(expect.stringMatching(/^waiting for memory: /));
  });
}

test('servers that stall near the end keep no more memory than there is for content', async () => {
  const { megabytes, seconds } = await stall(12, 8);
  console.log(`12 x 8 MiB: ${megabytes} MiB at most, a good one after ${seconds} s`);
  expect(megabytes).toBeLessThan(600);
});

test('80 of them with 50 MiB each stay below what is shipped', { tags: ['long'] }, async () => {
  await restartAsShipped();
  const { megabytes, seconds } = await stall(80, 50);
  console.log(`80 x 50 MiB: ${megabytes} MiB at most, a good one after ${seconds} s`);
  expect(megabytes).toBeLessThan(shippedMegabytes);
});

test('so do 4 packs of 31 MB of chained deltas', { tags: ['long'] }, async () => {
  await restartAsShipped();
  const base = randomBytes(31 * mebibyte);
  const { pack, commit } = aChain({ base, deltas: 90, named: 'by offset' });
  await using server = await servePack(pack, commit);
  const sources = names(4).map((name) => {
    const git = { repository: `${server.url}/${name}`, ref: { branch: 'main' } };
    return { type: 'git', git } as const;
  });
  // There are no manifests in them: that is known once the last delta was resolved.
  const { megabytes, seconds } = await measured(sources, async () => {
    const found = await statuses();
    for (const name of names(4)) expect(found.get(name)?.phase).toBe('Failing');
  });
  console.log(`4 packs: ${megabytes} MiB at most, a good one after ${seconds} s`);
  expect(megabytes).toBeLessThan(shippedMegabytes);
});
