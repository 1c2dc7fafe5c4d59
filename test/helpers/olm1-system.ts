import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { eventually, patiently } from './eventually.ts';
import { removeOperatorCrds } from './install-crds.ts';
import { conditionOf, Kubectl } from './kubectl.ts';
import { pushTestCatalog, type TestOperator } from './mirrored-catalog.ts';
import type { ControlPlane } from './plane.ts';
import { System } from './system.ts';
import { workerPorts } from './worker-ports.ts';

/** By its group: OLM v0 has a kind of this name too. */
export const operators = 'operators.operators.operatorframework.io';
export const extensions = 'clusterextensions.olm.operatorframework.io';

/** `rukpak all` with the kinds of OLM 1.0, and catalogs that tests push for it. */
export class Olm1System {
  readonly system: System;
  readonly kubectl: Kubectl;
  readonly #plane: ControlPlane;
  readonly #folder: string;

  private constructor(plane: ControlPlane, started: { system: System; folder: string }) {
    this.system = started.system;
    this.kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
    this.#plane = plane;
    this.#folder = started.folder;
  }

  static async start(plane: ControlPlane): Promise<Olm1System> {
    const folder = await mkdtemp(join(tmpdir(), 'rukpak-olm1-'));
    const [port] = await workerPorts(1);
    const { kubeconfig, registry } = plane;
    const system = await System.start({
      kubeconfig,
      registry,
      installFlags: ['--operators'],
      flags: [`--catalogs-server-addr=127.0.0.1:${port}`, `--cache-dir=${join(folder, 'content')}`],
    });
    return new Olm1System(plane, { system, folder });
  }

  /** With all that was installed. */
  async stop(): Promise<void> {
    for (const kind of [operators, extensions]) {
      await this.kubectl.run(['delete', kind, '--all', '--wait=false']);
    }
    await eventually(async () => {
      expect(await this.kubectl.list('bundledeployments')).toEqual([]);
    }, patiently);
    for (const kind of ['catalogs', 'clustercatalogs']) {
      await this.kubectl.must(['delete', kind, '--all', '--timeout=600s']);
    }
    await this.system.stop();
    await removeOperatorCrds(this.#plane.kubeconfig);
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** The reference of a catalog with these packages. */
  async pushed(name: string, ...packages: readonly TestOperator[]): Promise<string> {
    const { registry } = this.#plane;
    const place = { registry, prefix: 'e2e/', catalog: `olm1/${name}:v1` };
    return await pushTestCatalog(place, packages);
  }

  /** Creates a Catalog, and waits for its content. */
  async catalog(name: string, image: object): Promise<void> {
    await this.kubectl.apply({
      apiVersion: 'catalogd.operatorframework.io/v1alpha1',
      kind: 'Catalog',
      metadata: { name },
      spec: { source: { type: 'image', image } },
    });
    await eventually(async () => {
      const catalog = await this.kubectl.get('catalog', name);
      expect(conditionOf(catalog, 'Unpacked')).toMatchObject({ status: 'True' });
    });
  }

  /** Creates or changes the Operator of the package of that name. */
  async operator(name: string, version: string, annotations: object = {}): Promise<void> {
    await this.kubectl.apply({
      apiVersion: 'operators.operatorframework.io/v1alpha1',
      kind: 'Operator',
      metadata: { name, annotations },
      spec: { packageName: name, version },
    });
  }

  /** Waits until an Operator or ClusterExtension has a version, and it is healthy. */
  async isHealthyAt(kind: string, name: string, version: string): Promise<void> {
    await eventually(async () => {
      const live = await this.kubectl.get(kind, name);
      expect(installedVersion(live)).toBe(version);
      expect(conditionOf(live, 'Ready')).toMatchObject({ status: 'True' });
    });
  }
}

/** Of an Operator or ClusterExtension. */
export function installedVersion({ status }: KubernetesObject): string | undefined {
  const { installed, install } = (status ?? {}) as {
    readonly installed?: { readonly version: string };
    readonly install?: { readonly bundle: { readonly version: string } };
  };
  return (installed ?? install?.bundle)?.version;
}
