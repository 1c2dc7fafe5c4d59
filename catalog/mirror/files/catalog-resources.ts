import { type CarriedImage, type MirrorRegistry, repositoryPath } from '../carried-images.ts';
import { objectNames } from './object-names.ts';

/** Objects with which clusters use the mirrored catalogs, by file name. */
export function catalogObjects(
  images: readonly CarriedImage[],
  registry: MirrorRegistry,
): readonly (readonly [string, readonly object[]])[] {
  const found = images.flatMap(({ path, tag, catalog }) => {
    // Without the host of the mirror: its objects keep their names when it moves.
    const id = `${repositoryPath(registry, path)}:${tag}`;
    return catalog === undefined ? [] : [{ id, image: `${registry.host}/${id}`, ...catalog }];
  });
  const nameOf = objectNames(found.map(({ id }) => id));
  const catalogs = found.map(({ id, ...catalog }) => ({ name: nameOf(id), ...catalog }));
  return [
    ['catalogsource.yaml', catalogs.map(catalogSource)],
    ['catalog.yaml', catalogs.map(catalogObject)],
    ['clustercatalog.yaml', catalogs.map(clusterCatalog)],
  ];
}

interface NamedCatalog {
  readonly name: string;
  readonly image: string;
  readonly directory: string;
}

/** Minutes between polls of the tag, to which the next run may push another catalog. */
const pollMinutes = 30;

/** OLM serves the content with its own program: pruned catalogs have none. */
function catalogSource({ name, image, directory }: NamedCatalog): object {
  return {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'CatalogSource',
    metadata: { name: `cs-${name}`, namespace: 'openshift-marketplace' },
    spec: {
      sourceType: 'grpc',
      image,
      grpcPodConfig: { extractContent: { catalogDir: directory } },
      updateStrategy: { registryPoll: { interval: `${pollMinutes}m` } },
    },
  };
}

function catalogObject({ name, image }: NamedCatalog): object {
  return {
    apiVersion: 'catalogd.operatorframework.io/v1alpha1',
    kind: 'Catalog',
    metadata: { name: `cc-${name}` },
    spec: { source: { type: 'image', image: { ref: image, pollInterval: `${pollMinutes}m` } } },
  };
}

function clusterCatalog({ name, image }: NamedCatalog): object {
  return {
    apiVersion: 'olm.operatorframework.io/v1',
    kind: 'ClusterCatalog',
    metadata: { name: `cc-${name}` },
    spec: {
      source: { type: 'Image', image: { ref: image, pollIntervalMinutes: pollMinutes } },
    },
  };
}
