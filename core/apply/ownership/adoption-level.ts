import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { stringAt } from '../fields/json-fields.ts';
import { objectPath } from '../objects/object-id.ts';

/** Each of them is read from the API server, and an annotation has room for a hundred thousand. */
const maxTakers = 100;

/** True where the deployment may take objects that nobody has. */
export function takesUnowned(owner: BundleDeployment, live: KubernetesObject): boolean {
  return owner.spec.adoption === 'Unowned' || takesOwned(owner, live);
}

/**
 * True where the deployment may take objects of others: by spec.adoption, or where it is absent or
 * Unowned by the annotation `core.rukpak.io/adopt`: `*` for everything, or a comma-separated list of
 * `Kind/namespace/name`, for cluster-scoped objects `Kind/name`.
 */
export function takesOwned(owner: BundleDeployment, live: KubernetesObject): boolean {
  if (owner.spec.adoption === 'Never') return false;
  return owner.spec.adoption === 'Always' || isNamed(owner, live);
}

/** The first hundred that may take objects of this one (annotation `core.rukpak.io/hand-over`). */
export function handsOverTo(owner: BundleDeployment): readonly string[] {
  const names = new Set(listed(owner, annotation.handOver));
  names.delete(owner.metadata.name ?? '');
  return [...names].slice(0, maxTakers);
}

function isNamed(owner: BundleDeployment, live: KubernetesObject): boolean {
  const { namespace, name = '' } = live.metadata;
  const path = objectPath(live.kind, { namespace, name });
  return adoptedPaths(owner).some((entry) => entry === '*' || entry === path);
}

/** What the annotation `core.rukpak.io/adopt` lists. */
export function adoptedPaths(owner: BundleDeployment): readonly string[] {
  return listed(owner, annotation.adopt);
}

function listed({ metadata }: BundleDeployment, key: string): readonly string[] {
  return (stringAt(metadata.annotations, key) ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}
