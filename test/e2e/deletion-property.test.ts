import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundleDeploymentResource, bundleResource } from '../../api/v1alpha1/resources.ts';
import { connect, isNotFound } from '../../core/platform/kube/index.ts';
import { act } from '../helpers/deletion-property/actions.ts';
import { aMap, idOf, places, pushPool } from '../helpers/deletion-property/content.ts';
import { isRefused, lookAt, losses, unfinished } from '../helpers/deletion-property/invariants.ts';
import { Model } from '../helpers/deletion-property/model.ts';
import { Site } from '../helpers/deletion-property/site.ts';
import type { Stage } from '../helpers/deletion-property/stage.ts';
import { eventually } from '../helpers/eventually.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { plane } from '../helpers/plane.ts';
import { RukpakProcess } from '../helpers/rukpak-run.ts';
import { seededRandom } from '../helpers/seeded-random.ts';
import { System } from '../helpers/system.ts';

/*
 * Random sequences of what users do, on the real control plane. A failure names its seed and prints what was
 * done: RUKPAK_PROPERTY_SEED repeats it, RUKPAK_PROPERTY_SEQUENCES and RUKPAK_PROPERTY_STEPS ask for more.
 */
const { kubeconfig, registry } = plane;
const firstSeed = given('SEED') ?? 1;
const foreignCount = 50;
const toldDeletions = 100;
/** For core to come to rest (milliseconds): namespaces and CRDs take the API server a while. */
const within = (given('PATIENCE') ?? 600) * 1_000;

function given(name: string): number | undefined {
  const value = process.env[`RUKPAK_PROPERTY_${name}`];
  return value === undefined ? undefined : Number(value);
}

const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const connection = connect({ kubeconfig, userAgent: 'tests' });
const site = new Site(connection.client);
let system: System;
let source: Stage['source'];

beforeAll(async () => {
  system = await System.start({ kubeconfig, registry, run: RukpakProcess });
  source = await pushPool(registry);
  for (const name of places) {
    await kubectl.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
});

afterAll(async () => {
  for (const name of places) await site.delete(`Namespace//${name}`);
  await system.stop();
  await connection.close();
});

/** Each look reads everything: not at every change. */
const looks = { within, every: 300 };

async function settle(model: Model): Promise<void> {
  await eventually(async () => {
    const seen = await lookAt(site);
    const problems = [...losses(seen, model), ...unfinished(seen, model)];
    if (problems.length > 0) throw new Error(problems.join('\n'));
    model.rest(seen.content, (name) => {
      const deployment = seen.deployments.get(name);
      return deployment !== undefined && isRefused(deployment);
    });
  }, looks);
}

async function sequence(seed: number, steps: number): Promise<void> {
  const model = new Model();
  for (let count = 0; count < foreignCount; count += 1) {
    const namespace = places[count % places.length] ?? places[0];
    model.addForeign(await site.create(aMap(namespace, `foreign-${count}`, { of: 'a user' })));
  }
  const stage: Stage = { site, system, model, source, settle: async () => await settle(model) };
  const done: string[] = [];
  try {
    for (let step = 0; step < steps; step += 1) {
      // Each step has draws of its own: what it finds does not change what the next one does.
      const told = await act(stage, seededRandom(seed * 1_000 + step));
      done.push(`${told} (${new Date().toISOString()})`);
    }
    await settle(model);
    // What it had not seen while it was down must not make it delete anything either.
    await system.kill();
    await system.restart();
    await settle(model);
  } catch (error) {
    const text = done.map((line, step) => `${step}: ${line}`).join('\n');
    const deleted = system.log.split('\n').filter((line) => line.includes('"object deleted"'));
    const told = `${text}\ncore said\n${deleted.slice(-toldDeletions).join('\n')}`;
    throw new Error(`seed ${seed}, after ${done.length} steps:\n${told}\nthen ${String(error)}`, {
      cause: error,
    });
  } finally {
    await clear();
  }
  const refused = done.filter((line) => /^(refused|nothing)/.test(line)).length;
  console.log(`seed ${seed}: ${steps} steps, ${refused} of them without effect`);
}

async function clear(): Promise<void> {
  for (const { metadata } of await site.deployments()) {
    const key = { name: metadata.name ?? '' };
    const target = { resource: bundleDeploymentResource, key };
    await connection.client
      .patch(target, { spec: { deletionPolicy: 'Delete' } }, { type: 'merge' })
      .catch(absent);
    await connection.client.delete(bundleDeploymentResource, key).catch(absent);
  }
  await eventually(async () => expect(await site.deployments()).toEqual([]), looks);
  for (const { metadata } of await site.bundles()) {
    await connection.client.delete(bundleResource, { name: metadata.name ?? '' }).catch(absent);
  }
  await eventually(async () => expect(await remains()).toEqual([]), looks);
}

/** Deletes what a sequence has made, and returns what is still there. */
async function remains(): Promise<readonly string[]> {
  const bundles = (await site.bundles()).map(({ metadata }) => `Bundle//${metadata.name}`);
  const made = [...(await site.content()).values()].filter(({ kind, metadata }) => {
    const isCustom = metadata.name?.endsWith('.property.example.com') === true;
    if (isCustom || metadata.name === 'prop-own') return true;
    const isOfPlace = places.some((place) => place === metadata.namespace);
    return isOfPlace && !kind.startsWith('Prop') && metadata.name !== 'kube-root-ca.crt';
  });
  for (const object of made) {
    if (object.metadata.deletionTimestamp === undefined) {
      await site.delete(idOf(object)).catch(absent);
    }
  }
  return [...bundles, ...made.map(idOf)];
}

function absent(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

const sequences = given('SEQUENCES') ?? 2;
const steps = given('STEPS') ?? 60;
const timeout = 3_600_000;

async function run(count: number, length: number): Promise<void> {
  const failed: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const seed = firstSeed + index;
    await sequence(seed, length).catch((error: unknown) => {
      console.log(String(error));
      failed.push(`seed ${seed}: ${String(error).split('\nthen ').at(-1)}`);
    });
  }
  expect(failed).toEqual([]);
}

test(
  `nothing of a user's is lost, whatever users do (from seed ${firstSeed})`,
  {
    timeout,
  },
  async () => await run(sequences, steps),
);

test(
  `nor is it in long sequences (from seed ${firstSeed})`,
  {
    timeout,
    tags: ['long'],
  },
  async () => await run(20, 200),
);
