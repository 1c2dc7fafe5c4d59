import type { BundleDeployment, BundleFiles } from 'rukpak-ts/sdk';
import { Folder } from './folder.ts';
import { quoted } from './quoted.ts';
import { Value } from './value.ts';

/** The folder to build: `spec.config.path` of the BundleDeployment, the content's root without it. */
export function configuredFolder(files: BundleFiles, { metadata, spec }: BundleDeployment): Folder {
  const root = new Folder(files, '.');
  const config = new Value(
    spec.config ?? {},
    `BundleDeployment ${quoted(metadata.name)}`,
    'spec.config',
  );
  config.onlyHas('path');
  const path = config.get('path');
  if (!path.isThere) return root;
  const folder = root.folder(path);
  if (folder === undefined) throw path.refused(`names ${quoted(path.text())}, which is a file`);
  return folder;
}
