import type { CatalogReference, PackageContent, Property } from '../candidates/index.ts';
import type { GroupVersionKind } from '../constraints/index.ts';
import type { Version } from '../versions/index.ts';

/** What is known of a namespace when it is resolved. The order of lists does not matter. */
export interface NamespaceRequest {
  readonly namespace: string;
  /** The namespace of catalogs for all; undefined if the OperatorGroup excludes them. */
  readonly globalNamespace?: string;
  /** The number of OperatorGroups in the namespace. */
  readonly operatorGroups: number;
  /** The OperatorGroup's upgradeStrategy is TechPreviewUnsafeFailForward. */
  readonly failForward?: boolean;
  readonly subscriptions: readonly Subscription[];
  /** The ClusterServiceVersions of the namespace that are no copies. */
  readonly installed: readonly InstalledBundle[];
  readonly catalogs: readonly CatalogContent[];
}

/** Texts are empty where the Subscription has none. */
export interface Subscription {
  readonly name: string;
  readonly packageName: string;
  /** Empty for any channel. */
  readonly channel: string;
  readonly catalog: Pick<CatalogReference, 'name' | 'namespace'>;
  readonly startingCSV: string;
  readonly installedCSV: string;
  readonly currentCSV: string;
  readonly approval: 'Automatic' | 'Manual';
}

export interface InstalledBundle {
  readonly name: string;
  /** `zeroVersion` if it names none. */
  readonly version: Version;
  /** The bundle that it replaces; empty for none. */
  readonly replaces: string;
  /** Of its status, such as `Replacing`. */
  readonly phase: string;
  /** Of its annotation `operatorframework.io/properties`; undefined without one. */
  readonly properties: readonly Property[] | undefined;
  readonly owned: ApiDescriptions;
  readonly required: ApiDescriptions;
}

export interface ApiDescriptions {
  readonly customResourceDefinitions: readonly CustomResourceDefinition[];
  readonly apiServices: readonly GroupVersionKind[];
}

export interface CustomResourceDefinition {
  /** The plural and the group, as in `blues.example.com`. */
  readonly name: string;
  readonly version: string;
  readonly kind: string;
}

/** A CatalogSource: what it has, or why that is not known. */
export type CatalogContent = { readonly catalog: CatalogReference } & (
  | { readonly packages: readonly PackageContent[] }
  | { readonly error: string }
);
