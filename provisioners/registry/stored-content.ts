import {
  type BundleFiles,
  BundleFilesBuilder,
  type ContentLimits,
  type KubernetesObject,
  TerminalError,
  toJsonDocuments,
  toYaml,
} from '../../core/sdk.ts';

/** Folder of the original files, beside their conversion. */
const originals = 'bundle';
const kept = /^(?:manifests|metadata)(?:\/|$)/;

/**
 * The stored content of a bundle: its conversion without a spec.config, as by v0.16, and its
 * original files, which are converted again for each deployment. Only the conversion, when both
 * together exceed a limit that each of them meets.
 * @throws TerminalError above a limit.
 */
export function storedContent(
  files: BundleFiles,
  converted: BundleFiles | undefined,
  limits: ContentLimits,
): BundleFiles {
  try {
    return together(files, converted, limits);
  } catch (error) {
    if (error instanceof TerminalError && converted !== undefined) return converted;
    throw error;
  }
}

/** The bundle as fetched; undefined when only its conversion was stored. */
export function originalContent(stored: BundleFiles): BundleFiles | undefined {
  if (!stored.directories.has(originals)) return undefined;
  const prefix = `${originals}/`;
  const inside = (path: string): boolean => path.startsWith(prefix);
  return {
    files: new Map(
      [...stored.files]
        .filter(([path]) => inside(path))
        .map(([path, content]) => [path.slice(prefix.length), content]),
    ),
    directories: new Set(
      [...stored.directories].filter(inside).map((path) => path.slice(prefix.length)),
    ),
  };
}

/** The single file of a converted bundle. */
export const convertedFile = 'manifests/manifest.yaml';

/** A plain+v0 bundle of these objects, in one file. */
export function plainContent(
  objects: readonly KubernetesObject[],
  limits: ContentLimits,
): BundleFiles {
  return inOneFile(toYaml(objects), limits);
}

/** The same for one deployment: class plain reads it at once, and nobody else. */
export function deployedContent(
  objects: readonly KubernetesObject[],
  limits: ContentLimits,
): BundleFiles {
  return inOneFile(toJsonDocuments(objects), limits);
}

function inOneFile(text: string, limits: ContentLimits): BundleFiles {
  const builder = new BundleFilesBuilder(limits);
  builder.addFile(convertedFile, new TextEncoder().encode(text));
  return builder.build();
}

function together(
  files: BundleFiles,
  converted: BundleFiles | undefined,
  limits: ContentLimits,
): BundleFiles {
  const builder = new BundleFilesBuilder(limits);
  for (const [path, content] of converted?.files ?? []) builder.addFile(path, content);
  for (const path of files.directories) {
    if (kept.test(path)) builder.addDirectory(`${originals}/${path}`);
  }
  for (const [path, content] of files.files) {
    if (kept.test(path)) builder.addFile(`${originals}/${path}`, content);
  }
  return builder.build();
}
