import { deepStrictEqual, fail } from 'node:assert';
import {
  type BundleFiles,
  BundleFilesBuilder,
  type ContentLimits,
  defaultLimits,
  errorMessage,
} from '../core/sdk.ts';

/** Files by path, as text or bytes: `{ 'manifests/a.yaml': 'kind: …' }`. */
export type FileTexts = Readonly<Record<string, string | Uint8Array>>;

/** Content of these files and additional directories; adds parents. */
export function bundleFiles(files: FileTexts, directories: readonly string[] = []): BundleFiles {
  const builder = new BundleFilesBuilder(defaultLimits);
  for (const path of directories) builder.addDirectory(path);
  for (const [path, content] of Object.entries(files)) {
    builder.addFile(
      path,
      typeof content === 'string' ? new TextEncoder().encode(content) : content,
    );
  }
  return builder.build();
}

/** Content in a readable form for differences: text as it is, other content in base64. */
export function contentTexts({ files }: BundleFiles): Readonly<Record<string, string>> {
  return Object.fromEntries([...files].map(([path, content]) => [path, textOf(content)]));
}

function textOf(content: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return `base64:${Buffer.from(content).toString('base64')}`;
  }
}

const unlimited: ContentLimits = {
  maxBytes: Number.POSITIVE_INFINITY,
  maxEntries: Number.POSITIVE_INFINITY,
  maxPathLength: Number.POSITIVE_INFINITY,
  maxDepth: Number.POSITIVE_INFINITY,
  maxCompressionRatio: Number.POSITIVE_INFINITY,
  timeout: Number.POSITIVE_INFINITY,
};

/** Fails when a result is not a valid BundleFiles tree, or exceeds a limit. */
export function assertContent(result: BundleFiles, limits = unlimited): void {
  const { files, directories } = result ?? {};
  if (!(files instanceof Map) || !(directories instanceof Set)) {
    fail(
      'it returned no content: files is to be a Map and directories a Set (see BundleFilesBuilder)',
    );
  }
  const rebuilt = rebuild(result, limits);
  const way = 'make content with BundleFilesBuilder';
  deepStrictEqual([...files.keys()], [...rebuilt.files.keys()], `paths not in byte order: ${way}`);
  deepStrictEqual(
    directories,
    rebuilt.directories,
    `directories without their parents, or with files: ${way}`,
  );
}

function rebuild({ files, directories }: BundleFiles, limits: ContentLimits): BundleFiles {
  const builder = new BundleFilesBuilder(limits);
  try {
    for (const path of directories) builder.addDirectory(path);
    for (const [path, content] of files) {
      if (!(content instanceof Uint8Array)) fail(`"${path}" is to hold a Uint8Array`);
      builder.addFile(path, content);
    }
  } catch (error) {
    fail(`it returned content that cannot be stored: ${errorMessage(error)}`);
  }
  return builder.build();
}
