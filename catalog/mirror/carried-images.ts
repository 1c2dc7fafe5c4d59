/** An image that has been mirrored, or lies in a directory to be. */
export interface CarriedImage {
  /** As the image set names it. */
  readonly source: string;
  readonly digest: string;
  /** Repository below the target. */
  readonly path: string;
  readonly tag: string;
  /** Of an image that is a catalog of the image set. */
  readonly catalog?: CarriedCatalog | undefined;
  /** It was carried before, and is not in this directory or tar again. */
  readonly isEarlier?: true | undefined;
}

/** What clusters are told of a catalog. */
export interface CarriedCatalog {
  /** Path of the file-based catalog in the image. */
  readonly directory: string;
  /** It has less than its source, and so is no mirror of it. */
  readonly isPruned: boolean;
}

/** Where images are pushed: a registry, and what stands before all repositories there. */
export interface MirrorRegistry {
  /** `host[:port]` */
  readonly host: string;
  /** Without slashes at its ends; empty where there is none. */
  readonly prefix: string;
  /** Clients are to use HTTP, or not to check its certificate. */
  readonly insecure: boolean;
}

/** The path of a repository on the registry, as its API has it. */
export function repositoryPath({ prefix }: MirrorRegistry, path: string): string {
  return prefix === '' ? path : `${prefix}/${path}`;
}

/** The name of a repository on the mirror. */
export function mirrorName(registry: MirrorRegistry, path: string): string {
  return `${registry.host}/${repositoryPath(registry, path)}`;
}
