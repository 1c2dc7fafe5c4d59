export const catalogResource = {
  group: 'catalogd.operatorframework.io',
  version: 'v1alpha1',
  namespaced: false,
  kind: 'Catalog',
  plural: 'catalogs',
} as const;

/** Finalizer of a Catalog whose content is stored and served. */
export const catalogFinalizer = 'catalogd.operatorframework.io/delete-server-cache';
