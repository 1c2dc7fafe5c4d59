import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import type { Resource } from '../kube/resource.ts';
import type { EngineParts } from './engine-parts.ts';
import type { GroupKind } from './objects/group-kind.ts';

/** The kinds that an earlier set of this owner may have left objects of: ours, or RukPak's. */
export async function earlierKinds(
  { parents, releases }: Pick<EngineParts, 'parents' | 'releases'>,
  owner: BundleDeployment,
  signal: AbortSignal,
): Promise<readonly GroupKind[]> {
  return parents.isParent(owner) ? parents.kinds(owner) : await releases.kinds(owner, signal);
}

/** Where objects of these kinds are; of a kind that nobody serves nothing can be left. */
export async function servedResources(
  { watches, options }: Pick<EngineParts, 'watches' | 'options'>,
  kinds: readonly GroupKind[],
  signal: AbortSignal,
): Promise<readonly Resource[]> {
  const resources: Resource[] = [];
  for (const { group, kind } of kinds) {
    const resource =
      watches.watched({ group, kind }) ??
      (await options.discovery.resourceForGroupKind(group, kind, signal));
    if (resource !== undefined) resources.push(resource);
  }
  return resources;
}
