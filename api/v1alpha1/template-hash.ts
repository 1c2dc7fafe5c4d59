import { hashObject, sortedMap } from '../object-hash.ts';
import type { BundleSource, GitSource } from './bundle.ts';
import type { BundleTemplate } from './bundle-template.ts';
import { parametersFault } from './source-parameters.ts';

const maxBundleName = 52;
const maxDeploymentName = 45;

/**
 * The template's hash as RukPak computes it, so that a cluster's Bundles keep
 * their names. Fields stand in the order of the Go structs; empty ones are left out as Go does.
 */
export function templateHash(template: BundleTemplate): string {
  const { metadata = {}, spec } = template;
  return hashObject({
    metadata: {
      name: filled(metadata.name),
      namespace: filled(metadata.namespace),
      creationTimestamp: null,
      labels: filledMap(metadata.labels),
      annotations: filledMap(metadata.annotations),
      finalizers: filledList(metadata.finalizers),
    },
    spec: { provisionerClassName: spec.provisionerClassName, source: hashedSource(spec.source) },
  });
}

/** `<deployment>-<hash>`, cut so that the API server takes it as a Bundle's name. */
export function bundleName(deploymentName: string, hash: string): string {
  const base = deploymentName.slice(0, maxDeploymentName);
  return `${base}-${hash.slice(0, maxBundleName - base.length - 1)}`;
}

function hashedSource(source: BundleSource): object {
  const { type, image, git, configMaps, upload, http, parameters } = source;
  return {
    type,
    image: image && { ref: image.ref, pullSecret: filled(image.pullSecret) },
    git: git && hashedGit(git),
    configMaps: filledList(
      configMaps?.map(({ configMap, path }) => ({
        configMap: { name: filled(configMap.name) },
        path: filled(path),
      })),
    ),
    upload: upload && {},
    // RukPak knows no checksum: a template without one keeps its hash.
    http: http && {
      url: http.url,
      checksum: filled(http.checksum),
      auth: hashedAuth(http.auth),
    },
    // RukPak knows none. The API server sorts the keys, and no Bundle is made of what is wrong.
    parameters: parametersFault(source) ?? parameters,
  };
}

function hashedGit({ repository, directory, ref, auth }: GitSource): object {
  return {
    repository,
    directory: filled(directory),
    ref: { branch: filled(ref.branch), tag: filled(ref.tag), commit: filled(ref.commit) },
    auth: hashedAuth(auth),
  };
}

/** Go writes a struct that has no pointer even where it is empty. */
function hashedAuth(auth: GitSource['auth']): object {
  return {
    secret: { name: filled(auth?.secret?.name) },
    insecureSkipVerify: auth?.insecureSkipVerify === true ? true : undefined,
  };
}

function filled(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

function filledMap(map: Readonly<Record<string, string>> | undefined): object | undefined {
  return map === undefined || Object.keys(map).length === 0 ? undefined : sortedMap(map);
}

function filledList<T>(list: readonly T[] | undefined): readonly T[] | undefined {
  return list === undefined || list.length === 0 ? undefined : list;
}
