/** Keys that the project puts on objects (spec section 7). */
export const label = {
  ownerKind: 'core.rukpak.io/owner-kind',
  ownerName: 'core.rukpak.io/owner-name',
  templateHash: 'core.rukpak.io/bundle-template-hash',
  /** Of KEP-3659: on what a deployment's content has, and on nothing else of a deployment's. */
  partOf: 'applyset.kubernetes.io/part-of',
} as const;

export const annotation = {
  /** On a BundleDeployment: names the foreign objects it may take over. */
  adopt: 'core.rukpak.io/adopt',
} as const;

export const finalizer = {
  deleteCachedBundle: 'core.rukpak.io/delete-cached-bundle',
} as const;
