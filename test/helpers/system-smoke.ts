import { expect } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import type { BundleSource } from '../../api/v1alpha1/bundle.ts';
import type { ServiceAccountRef } from '../../api/v1alpha1/deployment-policies.ts';
import { eventually } from './eventually.ts';
import { conditionOf, type Kubectl } from './kubectl.ts';
import { aBundleDeployment, aConfigMap, anImage } from './objects.ts';
import { pushChart } from './push-chart.ts';
import { plainFiles, pushContent } from './push-content.ts';

export interface SmokePlace {
  readonly kubectl: Kubectl;
  readonly registry: string;
  /** In front of every name. */
  readonly prefix: string;
  /** Whose rights the deployments have (default: core's). */
  readonly serviceAccount?: ServiceAccountRef;
}

export interface SmokeDeployment {
  readonly name: string;
  readonly source: BundleSource;
  readonly className?: string;
}

const helmClass = 'core-rukpak-io-helm';

/** What a system must be able to do, whatever rights its processes have: namespace default, and CRDs. */
export class SystemSmoke {
  readonly #place: SmokePlace;

  constructor(place: SmokePlace) {
    this.#place = place;
  }

  /** Installs, repairs, upgrades with a prune, and removes plain content. */
  async livesThroughPlain(): Promise<void> {
    const { kubectl, prefix } = this.#place;
    const name = `${prefix}-plain`;
    const [kept, dropped] = [aConfigMap(`${name}-kept`), aConfigMap(`${name}-dropped`)];
    await this.rollOut({ name, source: await this.content(name, 1, [kept, dropped]) });
    await this.isInstalled(name);
    await kubectl.deleteNamed('configmap', [`${name}-kept`], { namespace: 'default' });
    await eventually(() => kubectl.get('configmap', `${name}-kept`, 'default'));
    const changed = aConfigMap(`${name}-kept`, { version: '2' });
    await this.rollOut({ name, source: await this.content(name, 2, [changed]) });
    await eventually(async () => {
      const { data } = (await kubectl.get('configmap', `${name}-kept`, 'default')) as unknown as {
        data: object;
      };
      expect(data).toEqual({ version: '2' });
      expect(await this.#configMaps(name)).toEqual([`${name}-kept`]);
    });
    await this.isInstalled(name);
    await kubectl.deleteNamed('bundledeployment', [name]);
    expect(await this.#configMaps(name)).toEqual([]);
  }

  /** Renders and installs a chart. */
  async livesThroughChart(): Promise<void> {
    const { kubectl, registry, prefix } = this.#place;
    const name = `${prefix}-chart`;
    const template = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-settings\n  namespace: default\ndata:\n  color: {{ .Values.color }}\n`;
    const files = {
      'web/Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.0.0\n',
      'web/values.yaml': 'color: red\n',
      'web/templates/settings.yaml': template,
    };
    const repository = `e2e/charts/${name}`;
    await pushChart({ registry, repository, tag: '1.0.0', files });
    const source = anImage(`${registry}/${repository}:1.0.0`);
    await this.rollOut({ name, source, className: helmClass });
    await this.isInstalled(name);
    expect(await this.#configMaps(name)).toEqual([`${name}-settings`]);
    await kubectl.deleteNamed('bundledeployment', [name]);
    expect(await this.#configMaps(name)).toEqual([]);
  }

  async rollOut({ name, source, className }: SmokeDeployment): Promise<void> {
    const { kubectl, serviceAccount } = this.#place;
    const made = aBundleDeployment({ name, source, ...(className && { className }) });
    const deployment = made as KubernetesObject & { spec: object };
    const spec = {
      ...deployment.spec,
      ...(className && { provisionerClassName: className }),
      ...(serviceAccount && { serviceAccount, installNamespace: 'default' }),
    };
    await kubectl.apply({ ...deployment, spec });
  }

  async isInstalled(name: string): Promise<void> {
    const { kubectl } = this.#place;
    await eventually(async () => {
      const deployment = await kubectl.get('bundledeployment', name);
      const { status, message } = conditionOf(deployment, 'Installed') ?? {};
      expect(status, message).toBe('True');
      expect(deployment['status']).toMatchObject({
        observedGeneration: deployment.metadata.generation,
      });
    });
  }

  /** Pushes plain content of these objects. */
  async content(name: string, version: number, objects: readonly object[]): Promise<BundleSource> {
    const { registry } = this.#place;
    return await pushContent({ registry, name, version, files: plainFiles(objects) });
  }

  async #configMaps(owner: string): Promise<readonly string[]> {
    const { kubectl } = this.#place;
    const found = await kubectl.list('configmaps', `core.rukpak.io/owner-name=${owner}`);
    return found.map(({ metadata }) => metadata.name ?? '').toSorted();
  }
}
