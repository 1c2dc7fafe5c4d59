import { type BundleFiles, BundleFilesBuilder, defaultLimits } from '../../core/sdk.ts';

/** Files by path, as text or bytes: `{ 'manifests/a.yaml': 'kind: …' }`. */
export type FileTexts = Readonly<Record<string, string | Uint8Array>>;

/** Content of these files, and of these directories besides; parents are added. */
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
