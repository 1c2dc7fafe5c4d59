const groupVersion = { group: 'core.rukpak.io', version: 'v1alpha1', namespaced: false } as const;

/** Resources of the two kinds. */
export const bundleResource = { ...groupVersion, kind: 'Bundle', plural: 'bundles' } as const;

export const bundleDeploymentResource = {
  ...groupVersion,
  kind: 'BundleDeployment',
  plural: 'bundledeployments',
} as const;
