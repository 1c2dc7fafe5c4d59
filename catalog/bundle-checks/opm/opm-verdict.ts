import { isMap } from '../../../api/json-fields.ts';
import type { BundleFiles } from '../../../core/contracts/bundle-files.ts';
import {
  annotationsOf,
  type BundleContent,
  bundleContent,
  type MetadataFile,
  metadataFiles,
} from '../bundle-content.ts';
import { dependencies } from '../objects/dependencies.ts';
import { annotationFindings } from '../objects/format.ts';
import { opmFiles } from './opm-files.ts';
import { opmObjectErrors } from './opm-objects.ts';

/** Options of `opm alpha bundle validate`. */
export interface OpmVerdictOptions {
  /** opm's optional validators: `operatorhub`, `bundle-objects`. */
  readonly optional?: readonly string[];
  /** Receives each step, in opm's words. */
  readonly log?: (level: 'debug' | 'warning', message: string) => void;
}

type Log = Required<OpmVerdictOptions>['log'];

/** Errors that opm reports; it does not check the content of a bundle with a wrong format. */
export interface OpmVerdict {
  readonly format: readonly string[];
  readonly content: readonly string[];
}

/**
 * The errors of `opm alpha bundle validate`, in its words and order; those of annotations, which
 * opm reports in random order, in the order of the format's description. No error: opm accepts it.
 */
export function opmVerdict(files: BundleFiles, options: OpmVerdictOptions = {}): OpmVerdict {
  const { log = () => undefined, optional = [] } = options;
  const type = bundleMediaType(files);
  const format = formatErrors(files, type, log);
  if (format.length > 0) return { format, content: [] };
  log('debug', 'Validating bundle contents');
  if (type === helm) return { format, content: [] };
  const content = opmObjectErrors(opmFiles(files), { files, type, optional, log });
  return { format, content };
}

const folders = ['manifests', 'metadata'];

function formatErrors(files: BundleFiles, type: string | undefined, log: Log): readonly string[] {
  for (const name of folders) {
    if (files.directories.has(name)) log('debug', `Found ${name} directory`);
  }
  const missing = folders.filter((name) => !files.directories.has(name));
  if (missing.length > 0) return missing.map((name) => `Unable to locate ${name} directory`);
  log('debug', 'Getting mediaType info from manifests directory');
  const content = bundleContent(files, []);
  return [
    ...(type === undefined ? ['The directory manifests contains no yaml files'] : []),
    ...annotationErrors(content, type ?? '', log),
    ...dependencyErrors(content, log),
  ];
}

const helm = 'helm';

/**
 * Type of `manifests/` as opm detects it: a ClusterServiceVersion makes it `registry+v1`. Undefined
 * if there are no files.
 */
export function bundleMediaType(files: BundleFiles): string | undefined {
  const manifests = opmFiles(files).filter(({ isDirectory }) => isDirectory !== true);
  if (manifests.length === 0) return undefined;
  if (files.files.has('manifests/Chart.yaml')) return helm;
  return manifests.some(({ kind }) => kind === 'ClusterServiceVersion') ? 'registry+v1' : 'plain';
}

const channelsKey = 'operators.operatorframework.io.bundle.channels.v1';
const typeKey = 'operators.operatorframework.io.bundle.mediatype.v1';

function annotationErrors(content: BundleContent, detected: string, log: Log): readonly string[] {
  const annotations = annotationFile(content.files);
  if (annotations === undefined) return ['Could not find annotations file'];
  log('debug', 'Found annotations file');
  const annotated = { ...content, annotations };
  const value = annotationsOf(annotated)[typeKey] ?? '';
  const expected = `Expecting annotation "${typeKey}" to have value`;
  const others = annotationFindings(annotated)
    .map(({ message }) => message)
    .filter((message) => !message.startsWith(expected));
  return [
    ...others,
    ...(others.includes(`Missing annotation "${channelsKey}"`)
      ? [`Expecting annotation "${channelsKey}" to have non-empty value`]
      : []),
    ...(value === detected ? [] : [`${expected} "${detected}" instead of "${value}"`]),
  ];
}

/** The first file with any annotations, whatever they are. */
function annotationFile(files: BundleFiles): MetadataFile | undefined {
  return metadataFiles(files)
    .map(({ file, value }) => ({ file, value: isMap(value) ? value['annotations'] : undefined }))
    .find(({ value }) => isMap(value));
}

function dependencyErrors(content: BundleContent, log: Log): readonly string[] {
  if (content.dependencies === undefined) {
    log('debug', 'Could not find optional dependencies file');
    return [];
  }
  log('debug', 'Found dependencies file');
  return dependencies
    .find(content, {})
    .map(({ message }) => (message.startsWith(noCel) ? noCel : message));
}

/** opm supports no other constraint. */
const noCel = 'The CEL field is missing';
