import { type CarriedImage, type MirrorRegistry, mirrorName } from '../carried-images.ts';

/** Objects with which clusters use the mirrored catalogs, by file name. */
export function catalogObjects(
  images: readonly CarriedImage[],
  registry: MirrorRegistry,
): readonly (readonly [string, readonly object[]])[] {
  const names = new Set<string>();
  const catalogs = images.flatMap(({ path, tag, catalog }) => {
    if (catalog === undefined) return [];
    const image = `${mirrorName(registry, path)}:${tag}`;
    return [{ name: objectName(`${path.split('/').at(-1)}-${tag}`, names), image, ...catalog }];
  });
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

/** Maximum length of a name without its prefix: OLM names a Service after the CatalogSource. */
const longestName = 60;

/** A unique object name from the last part of the repository and the tag. */
function objectName(text: string, taken: Set<string>): string {
  const clean = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, longestName - 4)
    .replaceAll(/^-+|-+$/g, '');
  let name = clean;
  for (let count = 2; taken.has(name); count += 1) name = `${clean}-${count}`;
  taken.add(name);
  return name;
}
