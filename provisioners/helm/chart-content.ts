import {
  type BundleFiles,
  BundleFilesBuilder,
  type ContentLimits,
  errorMessage,
  type ProvisionerContext,
  TerminalError,
  unpackBundle,
} from '../../core/sdk.ts';
import type { ChartFiles } from './engine/chart-engine.ts';

/** Folder for content without one. */
const defaultFolder = 'chart';

/**
 * Content in its stored form, with the chart in one folder at the root. A root with exactly one
 * directory has that form already.
 */
export function inOneFolder(content: BundleFiles, limits: ContentLimits): BundleFiles {
  if (onlyFolder(content) !== undefined) return content;
  const builder = new BundleFilesBuilder(limits);
  builder.addDirectory(defaultFolder);
  for (const path of content.directories) builder.addDirectory(`${defaultFolder}/${path}`);
  for (const [path, bytes] of content.files) builder.addFile(`${defaultFolder}/${path}`, bytes);
  return builder.build();
}

/** The chart in content, with or without a folder: paths relative to the chart. */
export function chartFiles(content: BundleFiles): ChartFiles {
  const folder = onlyFolder(content);
  if (folder === undefined) return content.files;
  const start = folder.length + 1;
  return new Map([...content.files].map(([path, bytes]) => [path.slice(start), bytes]));
}

/**
 * A packed chart in its stored form, without the rules of .helmignore: Helm applies them to a
 * chart's folder, when it packs it. They would leave out files of subcharts, which it packs in
 * folders.
 */
export function withoutIgnoreRules({ files, directories }: BundleFiles): BundleFiles {
  const kept = [...files].filter(([path]) => !/^[^/]+\/\.helmignore$/.test(path));
  return { files: new Map(kept), directories };
}

function onlyFolder({ files, directories }: BundleFiles): string | undefined {
  const [folder, another] = [...directories].filter(isAtRoot);
  return another === undefined && ![...files.keys()].some(isAtRoot) ? folder : undefined;
}

function isAtRoot(path: string): boolean {
  return !path.includes('/');
}

const archiveName = /\.(?:tgz|tar\.gz)$/;
/** Signature beside an archive, which core does not read. */
const provenanceName = /\.prov$/;

/** The content of a packed chart if there is nothing else; otherwise the content unchanged. */
export async function unpackedChart(
  content: BundleFiles,
  context: ProvisionerContext,
): Promise<BundleFiles> {
  const file = packedFile(content);
  if (file === undefined) return content;
  const [path, bytes] = file;
  try {
    return await unpackBundle(once(bytes), context);
  } catch (error) {
    if (!(error instanceof TerminalError)) throw error;
    throw new TerminalError(`unpack chart archive "${path}": ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

/** The archive of content that consists only of one. */
function packedFile({ files }: BundleFiles): readonly [string, Uint8Array] | undefined {
  const [file, another] = [...files].filter(([path]) => !provenanceName.test(path));
  return another === undefined && archiveName.test(file?.[0] ?? '') ? file : undefined;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Whether content looks like a chart, packed or not. */
export function isChart(content: BundleFiles): boolean {
  return chartFiles(content).has('Chart.yaml') || packedFile(content) !== undefined;
}
