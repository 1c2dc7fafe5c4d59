import type { JsonObject } from '../../api/json.ts';

/** In the order of a CSV. */
export const installModes = [
  'AllNamespaces',
  'OwnNamespace',
  'SingleNamespace',
  'MultiNamespace',
] as const;

export type InstallMode = (typeof installModes)[number];

/** The namespaces that `configOf` speaks of. */
export const modeNamespaces = {
  install: 'real-bundles',
  watched: ['real-bundles-a', 'real-bundles-b'],
} as const;

const { install: installNamespace, watched: watchNamespaces } = modeNamespaces;

/** spec.config of a BundleDeployment that asks for a mode. */
export const configOf: Readonly<Record<InstallMode, JsonObject>> = {
  AllNamespaces: { installNamespace },
  OwnNamespace: { installNamespace, watchNamespace: installNamespace },
  SingleNamespace: { installNamespace, watchNamespace: watchNamespaces[0] },
  MultiNamespace: { installNamespace, watchNamespaces },
};
