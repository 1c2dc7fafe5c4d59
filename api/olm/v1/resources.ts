const groupVersion = {
  group: 'olm.operatorframework.io',
  version: 'v1',
  namespaced: false,
} as const;

export const clusterCatalogResource = {
  ...groupVersion,
  kind: 'ClusterCatalog',
  plural: 'clustercatalogs',
} as const;

export const clusterExtensionResource = {
  ...groupVersion,
  kind: 'ClusterExtension',
  plural: 'clusterextensions',
} as const;

/** Label of every ClusterCatalog, with its name, for selectors of ClusterExtensions. */
export const catalogNameLabel = 'olm.operatorframework.io/metadata.name';

/** Finalizer of a ClusterCatalog whose content is stored and served. */
export const clusterCatalogFinalizer = 'olm.operatorframework.io/delete-server-cache';
