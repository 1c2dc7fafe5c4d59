import type { CatalogReference, PackageContent } from '../../resolver/candidates/index.ts';
import type { GroupVersionKind } from '../../resolver/constraints/index.ts';

/** A kind of catalog. */
export type CatalogKind = 'Catalog' | 'ClusterCatalog';

/** An object of such a kind; both are cluster-scoped. */
export interface CatalogIdentity {
  readonly kind: CatalogKind;
  readonly name: string;
  /** With `olm.operatorframework.io/metadata.name`, which selectors of names use. */
  readonly labels: Readonly<Record<string, string>>;
  /** Higher is preferred; 0 for a Catalog, which has none. */
  readonly priority: number;
}

/** A catalog of which this process has the content that the status names. */
export interface ServingCatalog extends CatalogIdentity {
  /** The image of the content: `<repository>@<digest>`. */
  readonly resolvedRef: string;
  /** Why newer content does not replace this one; undefined if nothing is wrong. */
  readonly problem: string | undefined;
}

/** A catalog without content, or with other content than the status names. */
export interface AbsentCatalog extends CatalogIdentity {
  /**
   * `Pending`: this process has not finished its first attempt at this content, which it has two
   * minutes for, so conclusions from missing packages are premature. `Failed`: it is not unpacked.
   * `Unavailable`: a user has switched it off.
   */
  readonly state: 'Pending' | 'Failed' | 'Unavailable';
  /** For people; empty while it is pending. */
  readonly problem: string;
}

/** The packages that differ in one catalog from what they were before. */
export interface ContentChange {
  readonly catalog: CatalogIdentity;
  /**
   * Names of packages whose blobs changed, appeared or disappeared; all packages of a catalog whose
   * content appears or disappears, or whose labels or priority change. Empty if only the state or
   * the problem of the catalog changed.
   */
  readonly packages: ReadonlySet<string>;
}

/** What one catalog has of a package, or why that cannot be read. */
export type FoundPackage =
  | {
      readonly catalog: ServingCatalog;
      /** Without properties `olm.bundle.object` and `olm.csv.metadata`, which no resolver reads. */
      readonly content: PackageContent;
    }
  | {
      readonly catalog: ServingCatalog;
      /** The package's blobs are broken; other packages of the catalog are not affected. */
      readonly problem: string;
      /** It is the disk that cannot be read. */
      readonly isUnreadable?: true;
    };

/** Packages of one catalog. */
export interface ProvidingPackages {
  readonly catalog: ServingCatalog;
  /** Sorted. */
  readonly packages: readonly string[];
}

/** The content of all catalogs of the cluster, as this process has it on disk. */
export interface CatalogContents {
  /** Catalogs with content, by descending priority, and by name. */
  serving(): readonly ServingCatalog[];
  /** Catalogs without content, by name. */
  absent(): readonly AbsentCatalog[];
  /**
   * What the catalogs that `isWanted` accepts have of a package, in the order of `serving`; catalogs
   * without the package are left out. Reads only this package from disk.
   */
  findPackage(
    name: string,
    isWanted: (catalog: ServingCatalog) => boolean,
  ): Promise<readonly FoundPackage[]>;
  /** Bytes that `findPackage` reads. */
  packageBytes(name: string, isWanted: (catalog: ServingCatalog) => boolean): number;
  /**
   * Names of packages with a bundle that provides an API, by catalog in the order of `serving`;
   * catalogs without one are left out. Reads nothing from disk.
   */
  packagesProviding(api: GroupVersionKind): readonly ProvidingPackages[];
  /** Calls the listener after each change; returns a function that ends that. */
  onChange(listener: (change: ContentChange) => void): () => void;
}

/** Contents in directories, which other processes of this machine can read too. */
export interface StoredContents extends CatalogContents {
  /** Where the content of the accepted catalogs is, in the order of `serving`. */
  places(isWanted: (catalog: ServingCatalog) => boolean): readonly StoredPlace[];
  /** Looks for damage in the content of catalogs of a name, which another process could not read. */
  suspect(name: string): void;
}

/** Content of a catalog on the disk, until newer content replaces it. */
export interface StoredPlace {
  readonly catalog: CatalogReference;
  readonly directory: string;
}
