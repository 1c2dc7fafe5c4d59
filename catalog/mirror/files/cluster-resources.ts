import { toYaml } from '../../../core/manifests/index.ts';
import type { CarriedImage, MirrorRegistry } from '../carried-images.ts';
import { catalogObjects } from './catalog-resources.ts';
import type { MirroredRepository } from './mirror-files.ts';

/** Objects for clusters as YAML, by file name. Omits files without objects. */
export function clusterResources(
  repositories: readonly MirroredRepository[],
  images: readonly CarriedImage[],
  registry: MirrorRegistry,
): ReadonlyMap<string, string> {
  const files: readonly (readonly [string, readonly object[]])[] = [
    ['imagecontentsourcepolicy.yaml', contentSourcePolicies(repositories)],
    ['imagedigestmirrorset.yaml', digestMirrorSets(repositories)],
    ['imagetagmirrorset.yaml', tagMirrorSets(repositories)],
    ...catalogObjects(images, registry),
  ];
  return new Map(
    files
      .filter(([, objects]) => objects.length > 0)
      .map(([file, objects]) => [file, toYaml(objects)]),
  );
}

const name = 'rukpakctl-mirror';

interface Mirrors {
  readonly source: string;
  readonly mirrors: readonly string[];
}

function mirrorsBy(
  repositories: readonly MirroredRepository[],
  how: 'byDigest' | 'byTag',
): readonly Mirrors[] {
  return repositories
    .filter((repository) => repository[how])
    .map(({ source, mirrors }) => ({ source, mirrors }));
}

/** For OpenShift before 4.13; supports digests only. */
function contentSourcePolicies(repositories: readonly MirroredRepository[]): readonly object[] {
  const repositoryDigestMirrors = mirrorsBy(repositories, 'byDigest');
  if (repositoryDigestMirrors.length === 0) return [];
  return [
    {
      apiVersion: 'operator.openshift.io/v1alpha1',
      kind: 'ImageContentSourcePolicy',
      metadata: { name },
      spec: { repositoryDigestMirrors },
    },
  ];
}

function digestMirrorSets(repositories: readonly MirroredRepository[]): readonly object[] {
  const imageDigestMirrors = mirrorsBy(repositories, 'byDigest');
  if (imageDigestMirrors.length === 0) return [];
  return [
    {
      apiVersion: 'config.openshift.io/v1',
      kind: 'ImageDigestMirrorSet',
      metadata: { name },
      spec: { imageDigestMirrors },
    },
  ];
}

function tagMirrorSets(repositories: readonly MirroredRepository[]): readonly object[] {
  const imageTagMirrors = mirrorsBy(repositories, 'byTag');
  if (imageTagMirrors.length === 0) return [];
  return [
    {
      apiVersion: 'config.openshift.io/v1',
      kind: 'ImageTagMirrorSet',
      metadata: { name },
      spec: { imageTagMirrors },
    },
  ];
}
