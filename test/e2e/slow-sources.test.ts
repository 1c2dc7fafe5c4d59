// @module-tag long
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BundleSource, BundleStatus } from '../../api/v1alpha1/bundle.ts';
import { TestRepository } from '../../deploy/local/git/create-repository.ts';
import { type GitServer, startGitServer } from '../../deploy/local/git/git-server.ts';
import { eventually } from '../helpers/eventually.ts';
import {
  type FrontServer,
  startBusyRegistry,
  startCuttingRegistry,
  startSilentServer,
} from '../helpers/hostile-registries.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { aBundle, aConfigMap, anImage } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { plainFiles, pushContent } from '../helpers/push-content.ts';
import { System } from '../helpers/system.ts';

/** Sources that are slow or broken hold up their own Bundles only. */
const bundlesEach = 8;

let registry: string;
let kubectl: Kubectl;
let system: System;
let busy: FrontServer;
let silent: FrontServer;
let silentGit: FrontServer;
let cutting: FrontServer;
let git: GitServer;
let repositories: string;

beforeAll(async () => {
  registry = plane.registry;
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
  // Each on a machine of its own, as far as its address says.
  busy = await startBusyRegistry(registry, '127.0.0.2');
  silent = await startSilentServer('127.0.0.3');
  silentGit = await startSilentServer('127.0.0.4');
  cutting = await startCuttingRegistry(registry, 64 * 1024, '127.0.0.5');
  repositories = await mkdtemp(join(tmpdir(), 'slow-sources-'));
  git = await startGitServer({ root: repositories });
  const hosts = [busy, silent, cutting].map(({ host }) => `--insecure-registry=${host}`);
  system = await System.start({ kubeconfig: plane.kubeconfig, registry, flags: hosts });
});

afterAll(async () => {
  await kubectl.deleteAll('bundles', { ignoreNotFound: true });
  await system.stop();
  await Promise.all([busy, silent, silentGit, cutting, git].map((server) => server.close()));
  await rm(repositories, { recursive: true });
});

/** Different images, of some 200 KB that do not compress. */
async function push(name: string): Promise<void> {
  const data = { random: randomBytes(200_000).toString('base64') };
  await pushContent({ registry, name, version: 1, files: plainFiles([aConfigMap(name, data)]) });
}

function names(group: string, count = bundlesEach): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${group}-${index}`);
}

async function apply(host: string, wanted: readonly string[]): Promise<void> {
  const source = (name: string) => anImage(`${host}/e2e/${name}:v1`);
  await kubectl.apply(...wanted.map((name) => aBundle({ name, source: source(name) })));
}

function repositoryAt(repository: string): BundleSource {
  return { type: 'git', git: { repository, ref: { branch: 'main' } } };
}

async function statuses(wanted: readonly string[]): Promise<readonly BundleStatus[]> {
  const known = new Map((await kubectl.list('bundles')).map((each) => [each.metadata.name, each]));
  return wanted.map((name) => (known.get(name)?.['status'] ?? {}) as BundleStatus);
}

function messagesOf(found: readonly BundleStatus[]): readonly (string | undefined)[] {
  return found.map(({ conditions }) => conditions?.[0]?.message);
}

/** Waits until all are; milliseconds. */
async function unpacked(wanted: readonly string[]): Promise<number> {
  const start = Date.now();
  await eventually(
    async () => {
      const found = await statuses(wanted);
      if (found.every(({ phase }) => phase === 'Unpacked')) return;
      throw new Error(messagesOf(found).join('\n'));
    },
    { within: 600_000 },
  );
  return Date.now() - start;
}

test('registries and git servers that are busy, silent or cut connections delay nobody else', async () => {
  for (const group of ['alone', 'healthy', 'busy', 'cut'])
    await Promise.all(names(group).map(push));
  await apply(registry, names('alone'));
  const alone = await unpacked(names('alone'));

  await apply(silent.host, names('silent'));
  await apply(busy.host, names('busy'));
  await apply(cutting.host, names('cut'));
  const stalled = names('stalled');
  // Of the same repository they would be one fetch.
  const stalledSource = (name: string) => repositoryAt(`http://${silentGit.host}/${name}`);
  await kubectl.apply(...stalled.map((name) => aBundle({ name, source: stalledSource(name) })));
  await eventually(() => {
    expect(silent.requests).toBeGreaterThanOrEqual(4);
    expect(silentGit.requests).toBeGreaterThanOrEqual(4);
  });

  await apply(registry, names('healthy'));
  const repository = await TestRepository.create(repositories, 'r');
  await repository.commit({ files: plainFiles([aConfigMap('from-git')]) });
  await kubectl.apply(aBundle({ name: 'healthy-git', source: repositoryAt(`${git.url}/r`) }));
  const healthy = await unpacked([...names('healthy'), 'healthy-git']);
  // Nobody has waited until core gave these up.
  for (const group of [names('silent'), stalled]) {
    const messages = messagesOf(await statuses(group));
    expect(messages.filter((each = '') => /Back-off|source bundle content/.test(each))).toEqual([]);
  }
  console.log(`unpacked ${bundlesEach} alone in ${alone} ms, among broken ones in ${healthy} ms`);

  await unpacked(names('busy'));
  await unpacked(names('cut'));
  await kubectl.deleteNamed('bundle', names('silent', 1));
  await silent.close();
  await eventually(
    async () => {
      const rest = names('silent').slice(1);
      const found = await statuses(rest);
      for (const [index, name] of rest.entries()) {
        expect(found[index]?.phase).toBe('Pending');
        const image = `${silent.host}/e2e/${name}:v1`;
        expect(messagesOf(found)[index]).toMatch(`Back-off pulling image "${image}": `);
      }
    },
    { within: 600_000 },
  );
});
