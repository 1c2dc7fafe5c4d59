import type { KubernetesObject } from '../../api/meta.ts';
import type { Kubectl } from './kubectl.ts';
import { aBundleDeployment } from './objects.ts';
import { plainFiles, pushContent } from './push-content.ts';

export interface Wanted {
  readonly name: string;
  readonly version?: number;
  readonly objects: readonly object[];
  readonly spec?: object;
}

export interface RollOutPlace {
  readonly kubectl: Kubectl;
  readonly registry: string;
  /** In front of the names of images, which all tests share. */
  readonly prefix: string;
}

/** Creates or upgrades a BundleDeployment with plain content of these objects. */
export async function rollOutPlain(
  { kubectl, registry, prefix }: RollOutPlace,
  { name, version = 1, objects, spec = {} }: Wanted,
): Promise<void> {
  const files = plainFiles(objects);
  const source = await pushContent({ registry, name: `${prefix}-${name}`, version, files });
  const deployment = aBundleDeployment({ name, source }) as KubernetesObject & { spec: object };
  await kubectl.apply({ ...deployment, spec: { ...deployment.spec, ...spec } });
}
