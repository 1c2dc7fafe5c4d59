import { label } from '../../../api/v1alpha1/labels.ts';
import {
  aBundleDeployment,
  aConfigMap,
  aDeployment,
  anImage,
  aServiceAccount,
} from '../../helpers/objects.ts';
import { plainFiles } from '../../helpers/push-content.ts';
import { pushImage } from '../../helpers/push-image.ts';
import { inParallel } from './in-parallel.ts';

export const objectsPerApp = 4;

/** Label selector of all objects of apps. */
export const installedSelector = `${label.ownerKind}=BundleDeployment`;

export function appNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `app-${`${index}`.padStart(4, '0')}`);
}

/** Between versions, the ConfigMap and the Deployment differ; the other two stay what they are. */
export function objectsOf(name: string, version: number): readonly object[] {
  return [
    anIdleDeployment(name, version),
    aServiceAccount(name),
    aHeadlessService(name),
    aConfigMap(name, { version: `${version}` }),
  ];
}

/** Without replicas, so that only the object itself has a cost. */
function anIdleDeployment(name: string, version: number): object {
  const env = [{ name: 'VERSION', value: `${version}` }];
  const deployment = aDeployment(name, { env }) as { readonly spec: object };
  return { ...deployment, spec: { ...deployment.spec, replicas: 0 } };
}

/** Without a cluster IP, because the cluster has only 254. */
function aHeadlessService(name: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default' },
    spec: { clusterIP: 'None', selector: { app: name }, ports: [{ name: 'http', port: 80 }] },
  };
}

export interface Content {
  readonly registry: string;
  readonly version: number;
}

/** Each app has a separate image. */
export async function pushApps(names: readonly string[], content: Content): Promise<void> {
  const { registry, version } = content;
  await inParallel(names, async (name) => {
    const layers = [{ files: plainFiles(objectsOf(name, version)) }];
    await pushImage({ registry, repository: `scale/${name}`, tag: `v${version}`, layers });
  });
}

export function anApp(name: string, content: Content): object {
  return aBundleDeployment({ name, source: sourceOf(name, content) });
}

export function sourceOf(name: string, { registry, version }: Content) {
  return anImage(`${registry}/scale/${name}:v${version}`);
}
