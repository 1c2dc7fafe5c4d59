import { hashObject, sortedMap } from '../../object-hash.ts';
import type { BundleSource, BundleTemplate, GitSource } from '../bundle.ts';
import { parametersFault } from './source-parameters.ts';

const maxBundleName = 52;
const maxDeploymentName = 45;

/**
 * The template's hash as RukPak computes it, so that the Bundles of a cluster keep their names.
 * Fields are in the order of the Go structs, without empty ones, as in Go.
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

/** `<deployment>-<hash>`, shortened to a valid name of a Bundle. */
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
    // RukPak has no checksum: a template without one keeps its hash.
    http: http && {
      url: http.url,
      checksum: filled(http.checksum),
      auth: hashedAuth(http.auth),
    },
    // RukPak has no parameters. The API server sorts their keys, and invalid ones make no Bundle.
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

/** Go writes a struct without pointer even when it is empty. */
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
