import { type BundleFiles, BundleFilesBuilder, type ContentLimits } from '../../core/sdk.ts';
import type { ChartFiles } from './engine/index.ts';

/** The folder of content that has none of its own. */
const defaultFolder = 'chart';

/**
 * Content with the chart in one folder at the root, as it is stored: a root that
 * holds exactly one directory is that already.
 */
export function inOneFolder(content: BundleFiles, limits: ContentLimits): BundleFiles {
  if (onlyFolder(content) !== undefined) return content;
  const builder = new BundleFilesBuilder(limits);
  builder.addDirectory(defaultFolder);
  for (const path of content.directories) builder.addDirectory(`${defaultFolder}/${path}`);
  for (const [path, bytes] of content.files) builder.addFile(`${defaultFolder}/${path}`, bytes);
  return builder.build();
}

/** The chart of content, whether it is in a folder or not: paths as in the chart. */
export function chartFiles(content: BundleFiles): ChartFiles {
  const folder = onlyFolder(content);
  if (folder === undefined) return content.files;
  const start = folder.length + 1;
  return new Map([...content.files].map(([path, bytes]) => [path.slice(start), bytes]));
}

function onlyFolder({ files, directories }: BundleFiles): string | undefined {
  const [folder, another] = [...directories].filter(isAtRoot);
  return another === undefined && ![...files.keys()].some(isAtRoot) ? folder : undefined;
}

function isAtRoot(path: string): boolean {
  return !path.includes('/');
}
