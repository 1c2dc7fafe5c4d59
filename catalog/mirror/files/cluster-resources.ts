import { toYaml } from '../../../core/manifests/index.ts';
import type { CarriedImage, MirrorRegistry } from '../carried-images.ts';
import { catalogObjects } from './catalog-resources.ts';
import type { MirroredRepository } from './mirror-files.ts';
import { nameWithDigest } from './object-names.ts';

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

type How = 'byDigest' | 'byTag';

interface MirrorObject {
  readonly name: string;
  readonly entries: readonly { readonly source: string; readonly mirrors: readonly string[] }[];
}

/**
 * An object for each repository, named after it and its mirrors: one for all of an image set would
 * be replaced by that of the next image set, and clusters would no longer find the first one's images.
 */
function mirrorObjects(
  repositories: readonly MirroredRepository[],
  how: How,
): readonly MirrorObject[] {
  return repositories
    .filter((repository) => repository[how])
    .map(({ source, mirrors }) => ({
      name: `mirror-${nameWithDigest(source, [source, ...mirrors].join('\n'))}`,
      entries: [{ source, mirrors }],
    }));
}

/** For OpenShift before 4.13; supports digests only. */
function contentSourcePolicies(repositories: readonly MirroredRepository[]): readonly object[] {
  return mirrorObjects(repositories, 'byDigest').map(({ name, entries }) => ({
    apiVersion: 'operator.openshift.io/v1alpha1',
    kind: 'ImageContentSourcePolicy',
    metadata: { name },
    spec: { repositoryDigestMirrors: entries },
  }));
}

function digestMirrorSets(repositories: readonly MirroredRepository[]): readonly object[] {
  return mirrorObjects(repositories, 'byDigest').map(({ name, entries }) => ({
    apiVersion: 'config.openshift.io/v1',
    kind: 'ImageDigestMirrorSet',
    metadata: { name },
    spec: { imageDigestMirrors: entries },
  }));
}

function tagMirrorSets(repositories: readonly MirroredRepository[]): readonly object[] {
  return mirrorObjects(repositories, 'byTag').map(({ name, entries }) => ({
    apiVersion: 'config.openshift.io/v1',
    kind: 'ImageTagMirrorSet',
    metadata: { name },
    spec: { imageTagMirrors: entries },
  }));
}
