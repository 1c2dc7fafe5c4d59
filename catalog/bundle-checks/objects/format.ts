import {
  annotationPrefix,
  annotationsOf,
  type BundleContent,
  type Check,
  fileAlone,
  placeOf,
} from '../bundle-content.ts';
import { error, type Finding, type Found, warning } from '../problem.ts';

/** Checks the layout of registry+v1 for catalog tools: annotations, and one object per file. */
export const format: Check = {
  name: 'format',
  summary: 'annotations, and files as all tools read them',
  optional: false,
  find: (bundle) => [
    ...annotationFindings(bundle),
    ...hiddenFiles(bundle),
    ...severalVersions(bundle),
    ...severalDocuments(bundle),
    ...lateDocuments(bundle),
  ],
};

const required = ['mediatype', 'manifests', 'metadata', 'package', 'channels'] as const;

const examples: Readonly<Record<(typeof required)[number], string>> = {
  mediatype: 'registry+v1',
  manifests: 'manifests/',
  metadata: 'metadata/',
  package: 'my-operator',
  channels: 'stable',
};

/** Annotations that are missing, empty or wrong for registry+v1. */
export function annotationFindings(bundle: BundleContent): readonly Finding[] {
  if (bundle.annotations === undefined) {
    const fix = 'add metadata/annotations.yaml with the package and its channels';
    return [error({ message: 'Could not find annotations file', fix })];
  }
  const { file } = bundle.annotations;
  const annotations = annotationsOf(bundle);
  const problems: (Omit<Found, 'place'> & { readonly key: string })[] = [];
  for (const name of required) {
    const key = `${annotationPrefix}${name}.v1`;
    const fix = `set it, for example to "${examples[name]}"`;
    if (!(key in annotations)) problems.push({ key, message: `Missing annotation "${key}"`, fix });
  }
  return [...problems, ...badValues(annotations)].map(({ key, message, fix }) =>
    error({ place: { file, document: 0, path: ['annotations', key] }, message, fix }),
  );
}

function badValues(
  annotations: Readonly<Record<string, string>>,
): readonly { readonly key: string; readonly message: string; readonly fix: string }[] {
  const type = `${annotationPrefix}mediatype.v1`;
  const value = annotations[type];
  const wrongType =
    value === undefined || value === 'registry+v1'
      ? []
      : [
          {
            key: type,
            message: `Expecting annotation "${type}" to have value "registry+v1" instead of "${value}"`,
            fix: 'correct it',
          },
        ];
  const empty = ['channels.v1', 'channel.default.v1']
    .map((name) => annotationPrefix + name)
    .filter((key) => key in annotations && annotations[key] === '')
    .map((key) => ({
      key,
      message: `Expecting annotation "${key}" to have non-empty value`,
      fix: 'name a channel there, for example "stable"',
    }));
  return [...wrongType, ...empty];
}

function hiddenFiles({ files }: BundleContent): readonly Finding[] {
  return [...files.files.keys()]
    .filter((path) => /^manifests\/\.[^/]*$/.test(path))
    .map((path) =>
      error({
        place: fileAlone(path),
        message: `bundle manifests dir has hidden file: ${path}`,
        fix: 'remove it: operator-sdk refuses it, and others read it as a manifest',
      }),
    );
}

function severalVersions({ objects, csv }: BundleContent): readonly Finding[] {
  const all = objects.filter(({ object }) => object.kind === 'ClusterServiceVersion');
  if (csv === undefined || all.length === 1) return [];
  const message = 'invalid bundle: contains multiple CSVs';
  return [error({ place: placeOf(csv), message, fix: 'keep one' })];
}

function severalDocuments({ objects }: BundleContent): readonly Finding[] {
  return objects
    .filter(({ document }) => document === 1)
    .map((located) =>
      warning({
        place: placeOf(located),
        message: `found more than one document inside ${baseName(located.file)}, using only the first one`,
        fix: 'give each object a file of its own: rukpak-ts reads all of them, catalogs only the first',
      }),
    );
}

/** For these tools a comment before the first `---` is a document of its own, and the only one. */
function lateDocuments({ files, objects }: BundleContent): readonly Finding[] {
  const read = new Set(objects.map(({ file }) => file));
  return [...files.files]
    .filter(
      ([path, content]) => read.has(path) && /^(?:\s*#[^\n]*\n|\s*\n)+---/.test(start(content)),
    )
    .map(([path]) =>
      warning({
        place: { file: path, document: 0, path: [] },
        message: `${baseName(path)} has a comment before its first "---": opm and operator-sdk see a document without an object there, and do not read on`,
        fix: 'move the comment behind the "---", or remove the "---"',
      }),
    );
}

function start(content: Uint8Array): string {
  return Buffer.from(content.subarray(0, 8192)).toString('utf8').replaceAll('\r\n', '\n');
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
