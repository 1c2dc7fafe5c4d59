import { expect } from 'vitest';
import { eventually } from './eventually.ts';
import { conditionOf, type Kubectl } from './kubectl.ts';
import { aBundleDeployment, aConfigMap, aDeployment, aService } from './objects.ts';
import { plainFiles, pushContent } from './push-content.ts';

interface NeighbourOptions {
  readonly kubectl: Kubectl;
  readonly registry: string;
  /** Of the BundleDeployment and of each of its objects. */
  readonly name: string;
}

export interface PlainNeighbour {
  install(): Promise<void>;
  /** That nobody but Kubernetes itself has written its objects since. */
  isUntouched(): Promise<void>;
  remove(): Promise<void>;
}

/** A plain deployment with a ConfigMap, a Service and a Deployment, which others are to leave alone. */
export function plainNeighbour({ kubectl, registry, name }: NeighbourOptions): PlainNeighbour {
  let before: readonly unknown[] = [];
  const look = () =>
    Promise.all(['configmap', 'service', 'deployment'].map((kind) => written(kubectl, kind, name)));
  return {
    async install() {
      const objects = [aConfigMap(name, { a: '1' }), aService(name), aDeployment(name)];
      const files = plainFiles(objects);
      const source = await pushContent({ registry, name, version: 1, files });
      await kubectl.apply(aBundleDeployment({ name, source }));
      await eventually(async () => {
        const found = await kubectl.get('bundledeployment', name);
        expect(conditionOf(found, 'Installed')).toMatchObject({ status: 'True' });
        expect(conditionOf(found, 'Healthy')).toMatchObject({ status: 'True' });
      });
      before = await look();
    },
    async isUntouched() {
      expect(await look()).toEqual(before);
    },
    async remove() {
      await kubectl.deleteNamed('bundledeployment', [name]);
    },
  };
}

/** Who has written an object and when, but for its status. */
async function written(kubectl: Kubectl, kind: string, name: string): Promise<object> {
  const place = ['--namespace=default', '--show-managed-fields', '--output=json'];
  const { metadata } = JSON.parse(await kubectl.must(['get', kind, name, ...place]));
  const { uid, generation, managedFields, resourceVersion } = metadata as {
    readonly managedFields: readonly { readonly subresource?: string; readonly manager: string }[];
  } & Record<string, unknown>;
  // Kubernetes counts the revisions of Deployments in them.
  const isTheirs = ({ subresource, manager }: (typeof managedFields)[number]) =>
    subresource === undefined && manager !== 'kube-controller-manager';
  const version = kind === 'deployment' ? {} : { resourceVersion };
  return { uid, generation, writes: managedFields.filter(isTheirs), ...version };
}
