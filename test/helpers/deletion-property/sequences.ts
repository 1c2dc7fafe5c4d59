import { expect } from 'vitest';
import { bundleDeploymentResource, bundleResource } from '../../../api/v1alpha1/resources.ts';
import { connect, isNotFound, type KubeConnection } from '../../../core/platform/kube/index.ts';
import { eventually } from '../eventually.ts';
import { Kubectl } from '../kubectl.ts';
import { plane } from '../plane.ts';
import { RukpakProcess } from '../rukpak-run.ts';
import { seededRandom } from '../seeded-random.ts';
import { System } from '../system.ts';
import { act } from './actions.ts';
import { aMap, idOf, places, pushPool } from './content.ts';
import { isRefused, lookAt, losses, unfinished } from './invariants.ts';
import { Model } from './model.ts';
import { Site } from './site.ts';
import type { Stage } from './stage.ts';

const foreignCount = 50;
const toldDeletions = 100;

/** A number of the environment, of RUKPAK_PROPERTY_`name`. */
export function given(name: string): number | undefined {
  const value = process.env[`RUKPAK_PROPERTY_${name}`];
  return value === undefined ? undefined : Number(value);
}

/** For core to come to rest (milliseconds): namespaces and CRDs take the API server a while. */
const within = (given('PATIENCE') ?? 600) * 1_000;
/** Each look reads everything: not at every change. */
const looks = { within, every: 300 };

/** Seed of the first sequence of a run. */
export const firstSeed = given('SEED') ?? 1;

export interface Count {
  /** Seed of the first one; each of the others has the next. */
  readonly from: number;
  readonly count: number;
  readonly steps: number;
}

/** Random sequences of what users do, one after the other, on the control plane of this worker. */
export class Sequences {
  readonly #connection: KubeConnection;
  readonly #site: Site;
  readonly #system: System;
  readonly #source: Stage['source'];

  private constructor(connection: KubeConnection, system: System, source: Stage['source']) {
    this.#connection = connection;
    this.#site = new Site(connection.client);
    this.#system = system;
    this.#source = source;
  }

  static async start(): Promise<Sequences> {
    const { kubeconfig, registry } = plane;
    const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
    const system = await System.start({ kubeconfig, registry, run: RukpakProcess });
    const source = await pushPool(registry);
    for (const name of places) {
      await kubectl.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    }
    return new Sequences(connect({ kubeconfig, userAgent: 'tests' }), system, source);
  }

  async stop(): Promise<void> {
    for (const name of places) await this.#site.delete(`Namespace//${name}`);
    await this.#system.stop();
    await this.#connection.close();
  }

  /** Runs them all, also after one has failed; a failure names its seed and prints what was done. */
  async run({ from, count, steps }: Count): Promise<void> {
    const failed: string[] = [];
    for (let seed = from; seed < from + count; seed += 1) {
      await this.#sequence(seed, steps).catch((error: unknown) => {
        console.log(String(error));
        failed.push(`seed ${seed}: ${String(error).split('\nthen ').at(-1)}`);
      });
    }
    expect(failed).toEqual([]);
  }

  async #settle(model: Model): Promise<void> {
    await eventually(async () => {
      const seen = await lookAt(this.#site);
      const problems = [...losses(seen, model), ...unfinished(seen, model)];
      if (problems.length > 0) throw new Error(problems.join('\n'));
      model.rest(seen.content, (name) => {
        const deployment = seen.deployments.get(name);
        return deployment !== undefined && isRefused(deployment);
      });
    }, looks);
  }

  async #sequence(seed: number, steps: number): Promise<void> {
    const model = new Model();
    for (let count = 0; count < foreignCount; count += 1) {
      const namespace = places[count % places.length] ?? places[0];
      model.addForeign(
        await this.#site.create(aMap(namespace, `foreign-${count}`, { of: 'a user' })),
      );
    }
    const stage: Stage = {
      site: this.#site,
      system: this.#system,
      source: this.#source,
      model,
      settle: async () => await this.#settle(model),
    };
    const done: string[] = [];
    try {
      for (let step = 0; step < steps; step += 1) {
        // Each step has draws of its own: what it finds does not change what the next one does.
        const told = await act(stage, seededRandom(seed * 1_000 + step));
        done.push(`${told} (${new Date().toISOString()})`);
      }
      await this.#settle(model);
      // What it had not seen while it was down must not make it delete anything either.
      await this.#system.kill();
      await this.#system.restart();
      await this.#settle(model);
    } catch (error) {
      const text = done.map((line, step) => `${step}: ${line}`).join('\n');
      const deleted = this.#system.log
        .split('\n')
        .filter((line) => line.includes('"object deleted"'));
      const told = `${text}\ncore said\n${deleted.slice(-toldDeletions).join('\n')}`;
      throw new Error(`seed ${seed}, after ${done.length} steps:\n${told}\nthen ${String(error)}`, {
        cause: error,
      });
    } finally {
      await this.#clear();
    }
    const refused = done.filter((line) => /^(refused|nothing)/.test(line)).length;
    console.log(`seed ${seed}: ${steps} steps, ${refused} of them without effect`);
  }

  async #clear(): Promise<void> {
    for (const { metadata } of await this.#site.deployments()) {
      const key = { name: metadata.name ?? '' };
      const target = { resource: bundleDeploymentResource, key };
      await this.#site.client
        .patch(target, { spec: { deletionPolicy: 'Delete' } }, { type: 'merge' })
        .catch(absent);
      await this.#site.client.delete(bundleDeploymentResource, key).catch(absent);
    }
    await eventually(async () => expect(await this.#site.deployments()).toEqual([]), looks);
    for (const { metadata } of await this.#site.bundles()) {
      await this.#site.client.delete(bundleResource, { name: metadata.name ?? '' }).catch(absent);
    }
    await eventually(async () => expect(await this.#remains()).toEqual([]), looks);
  }

  /** Deletes what a sequence has made, and returns what is still there. */
  async #remains(): Promise<readonly string[]> {
    const bundles = (await this.#site.bundles()).map(({ metadata }) => `Bundle//${metadata.name}`);
    const made = [...(await this.#site.content()).values()].filter(({ kind, metadata }) => {
      const isCustom = metadata.name?.endsWith('.property.example.com') === true;
      if (isCustom || metadata.name === 'prop-own') return true;
      const isOfPlace = places.some((place) => place === metadata.namespace);
      return isOfPlace && !kind.startsWith('Prop') && metadata.name !== 'kube-root-ca.crt';
    });
    for (const object of made) {
      if (object.metadata.deletionTimestamp === undefined) {
        await this.#site.delete(idOf(object)).catch(absent);
      }
    }
    return [...bundles, ...made.map(idOf)];
  }
}

function absent(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
