/** An image on the mirror, or in a directory or tar for it. */
export interface CarriedImage {
  /** Reference of the original image, or the place of a local catalog. */
  readonly source: string;
  readonly digest: string;
  /** Repository below the target. */
  readonly path: string;
  readonly tag: string;
  /** Set for a catalog of the image set. */
  readonly catalog?: CarriedCatalog | undefined;
  /** Of a bundle, the sources of the images that it names: it does not go anywhere without them. */
  readonly needs?: readonly string[] | undefined;
  /** An earlier run carried the image, so this directory or tar does not have it again. */
  readonly isEarlier?: true | undefined;
}

/** Data of a catalog for the objects of clusters. */
export interface CarriedCatalog {
  /** Path of the file-based catalog in the image. */
  readonly directory: string;
  /** The image has only a part of its source, so it is not a mirror of it. */
  readonly isPruned: boolean;
}

/** The target of pushes: a registry, and the prefix of all repositories there. */
export interface MirrorRegistry {
  /** `host[:port]` */
  readonly host: string;
  /** Without slashes at its ends; empty for none. */
  readonly prefix: string;
  /** Clients must use HTTP, or not verify its certificate. */
  readonly insecure: boolean;
}

/** The path of a repository on the registry, as in its API. */
export function repositoryPath({ prefix }: MirrorRegistry, path: string): string {
  return prefix === '' ? path : `${prefix}/${path}`;
}

/** The name of a repository on the mirror. */
export function mirrorName(registry: MirrorRegistry, path: string): string {
  return `${registry.host}/${repositoryPath(registry, path)}`;
}
