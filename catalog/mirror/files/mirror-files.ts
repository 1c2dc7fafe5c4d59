import { parseImageReference, repositoryName } from '../../../core/registry/index.ts';
import { type CarriedImage, type MirrorRegistry, mirrorName } from '../carried-images.ts';

/** A repository whose images are on the mirror too. */
export interface MirroredRepository {
  /** `<registry>/<path>` */
  readonly source: string;
  /** Usually one; another one for a catalog with a name of its own on the mirror. */
  readonly mirrors: readonly string[];
  /** Whether references to its images use digests, tags, or both. */
  readonly byDigest: boolean;
  readonly byTag: boolean;
}

/**
 * The repositories of mirrored images, sorted by name; without pruned catalogs, which are different
 * images.
 */
export function mirroredRepositories(
  images: readonly CarriedImage[],
  registry: MirrorRegistry,
): readonly MirroredRepository[] {
  const found = new Map<string, MirroredRepository>();
  for (const { source, path, catalog } of images) {
    if (catalog?.isPruned === true) continue;
    const reference = parseImageReference(source);
    const name = repositoryName(reference);
    const byDigest = reference.digest !== undefined;
    const known = found.get(name);
    const mirrors = new Set(known?.mirrors).add(mirrorName(registry, path));
    found.set(name, {
      source: name,
      mirrors: [...mirrors],
      byDigest: byDigest || known?.byDigest === true,
      byTag: !byDigest || known?.byTag === true,
    });
  }
  return [...found.values()].toSorted((a, b) => (a.source < b.source ? -1 : 1));
}

/**
 * Mirrors in the format of containers-registries.conf, version 2: for nodes, and for
 * `--registries-conf`. Programs that read it fall back to the registry itself.
 */
export function registriesConf(
  repositories: readonly MirroredRepository[],
  registry: MirrorRegistry,
): string {
  const { insecure } = registry;
  const mirrored = repositories.map(({ source, mirrors, byTag }) =>
    [
      '[[registry]]',
      `location = "${source}"`,
      ...mirrors.flatMap((mirror) => [
        '',
        '[[registry.mirror]]',
        `location = "${mirror}"`,
        ...(byTag ? [] : ['pull-from-mirror = "digest-only"']),
        ...(insecure ? ['insecure = true'] : []),
      ]),
    ].join('\n'),
  );
  const blocks = [...(insecure ? [insecureMirror(registry)] : []), ...mirrored];
  return blocks.map((block) => `${block}\n`).join('\n');
}

/** Mirrored catalogs have names of the mirror, for which settings of a mirror do not count. */
function insecureMirror({ host, prefix }: MirrorRegistry): string {
  const location = prefix === '' ? host : `${host}/${prefix}`;
  return ['[[registry]]', `location = "${location}"`, 'insecure = true'].join('\n');
}

/** `<source>=<mirror>`, a line for each image. */
export function mappingText(images: readonly CarriedImage[], registry: MirrorRegistry): string {
  const lines = images.map(
    ({ source, path, tag }) => `${source}=${mirrorName(registry, path)}:${tag}\n`,
  );
  return lines.toSorted().join('');
}
