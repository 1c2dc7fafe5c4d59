import {
  type BundleFiles,
  BundleFilesBuilder,
  type ContentLimits,
  type KubernetesObject,
  TerminalError,
  toJsonDocuments,
  toYaml,
} from '../../core/sdk.ts';

/** Where the original files are, beside what they were converted to. */
const originals = 'bundle';
const kept = /^(?:manifests|metadata)(?:\/|$)/;

/**
 * What is stored of a bundle: what it is without a spec.config, as by v0.16, and its own files, from
 * which each deployment is converted anew. Where both together pass a limit that each of them keeps,
 * the conversion alone is stored.
 * @throws TerminalError where a limit is passed.
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

/** The bundle as it was fetched; undefined where only its conversion was stored. */
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

/** The one file of a bundle that was converted. */
export const convertedFile = 'manifests/manifest.yaml';

/** A plain+v0 bundle of these objects, in one file. */
export function plainContent(
  objects: readonly KubernetesObject[],
  limits: ContentLimits,
): BundleFiles {
  return inOneFile(toYaml(objects), limits);
}

/** The same for one deployment: the class plain reads it at once, and no person does. */
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
