import { gzipSync } from 'node:zlib';
import { fieldAt, listOf, stringAt } from '../../../api/json-fields.ts';
import { type BundleContent, type Check, type LocatedObject, placeOf } from '../bundle-content.ts';
import { error, type Finding, warning } from '../problem.ts';

/** Checks the files of a bundle against each other, and their size. */
export const bundle: Check = {
  name: 'bundle',
  summary: 'CRDs, ServiceAccounts and images that belong together, and the size',
  optional: false,
  find: (content) => [
    ...repeatedVersions(content),
    ...ownedDefinitions(content),
    ...serviceAccounts(content),
    ...sizeFindings(content),
    ...relatedImageFindings(content),
  ],
};

function repeatedVersions({ crds, csvName }: BundleContent): readonly Finding[] {
  const groups = Map.groupBy(crds.flatMap(crdVersions), ({ gvk }) => gvk);
  return [...groups].flatMap(([gvk, [, ...more]]) =>
    more.map(({ crd }) =>
      error({
        place: placeOf(crd, 'spec', 'names', 'kind'),
        message: `duplicate CRD "${gvk}" in bundle "${csvName}"`,
        fix: 'keep one of them',
      }),
    ),
  );
}

function ownedDefinitions({ crds, csv, csvName }: BundleContent): readonly Finding[] {
  if (csv === undefined) return [];
  const versions = crds.flatMap(crdVersions);
  const present = new Set(versions.map(({ gvk }) => gvk));
  const path = ['spec', 'customresourcedefinitions', 'owned'];
  const owned = listOf(fieldAt(csv.object, ...path)).map((entry, index) => {
    const [group, kind] = [groupOf(entry), stringAt(entry, 'kind')];
    const gvk = gvkText(group, stringAt(entry, 'version'), kind);
    return { index, gvk, groupKind: gvkText(group, '', kind) };
  });
  const missing = owned
    .filter(({ gvk }) => !present.has(gvk))
    .map(({ index, gvk }) =>
      error({
        place: placeOf(csv, ...path, index),
        message: `owned CRD "${gvk}" not found in bundle "${csvName}"`,
        fix: 'add the CRD to manifests/, or correct name, version and kind of the entry',
      }),
    );
  const known = new Set(owned.map(({ groupKind }) => groupKind));
  const strangers = versions.filter(({ groupKind }) => !known.has(groupKind));
  return [...missing, ...strangers.map((each) => notOwned(each, csvName))];
}

function notOwned({ crd, gvk }: CrdVersion, csvName: string): Finding {
  return error({
    place: placeOf(crd, 'spec', 'names', 'kind'),
    message: `CRD "${gvk}" is present in bundle "${csvName}" but not defined in CSV`,
    fix: 'add it to spec.customresourcedefinitions.owned, or remove the file',
  });
}

function serviceAccounts({ objects, csv }: BundleContent): readonly Finding[] {
  const deployments = listOf(fieldAt(csv?.object['spec'], 'install', 'spec', 'deployments'));
  const used = new Set(
    deployments.map((each) => stringAt(each, 'spec', 'template', 'spec', 'serviceAccountName')),
  );
  return objects
    .filter(
      ({ object: { kind, metadata } }) =>
        kind === 'ServiceAccount' && metadata.name !== undefined && used.has(metadata.name),
    )
    .map((located) =>
      error({
        place: placeOf(located, 'metadata', 'name'),
        message: `invalid service account found in bundle. This service account ${located.object.metadata.name} in your bundle is not valid, because a service account with the same name was already specified in your CSV. If this was unintentional, please remove the service account manifest from your bundle. If it was intentional to specify a separate service account, please rename the SA in either the bundle manifest or the CSV.`,
        fix: 'remove the file: the ServiceAccount is made for the deployment anyhow',
      }),
    );
}

const maxSize = 1_048_576;
const nearlyFull = 0.85;

function sizeFindings({ files }: BundleContent): readonly Finding[] {
  const contents = [...files.files].filter(([path]) => /^manifests\/[^/]+$/.test(path));
  const compressed = contents.reduce((sum, [, content]) => sum + transferSize(content), 0);
  const size = contents.reduce((sum, [, { byteLength }]) => sum + byteLength, 0);
  const rest = `size=~${inUnits(compressed)} , max=${inUnits(maxSize)}. Bundle uncompressed size is ${inUnits(size)}`;
  const fix = 'shorten descriptions in CRDs and icons: catalogs keep a bundle in one ConfigMap';
  if (compressed === 0) {
    return [
      warning({ message: 'unable to check the bundle compressed size', fix: 'add manifests' }),
    ];
  }
  if (compressed > maxSize) {
    const message = `maximum bundle compressed size with gzip size exceeded: ${rest}`;
    return [error({ message, fix })];
  }
  if (compressed <= maxSize * nearlyFull) return [];
  return [warning({ message: `nearing maximum bundle compressed size with gzip: ${rest}`, fix })];
}

function transferSize(content: Uint8Array): number {
  return 4 * Math.ceil(gzipSync(content).byteLength / 3);
}

function inUnits(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const exponent = Math.floor(Math.log10(bytes) / 3);
  return `${(bytes / 1000 ** exponent).toFixed(1)} ${'kMGTPE'.charAt(exponent - 1)}B`;
}

interface CrdVersion {
  readonly crd: LocatedObject;
  readonly groupKind: string;
  /** `group/version, Kind=kind` */
  readonly gvk: string;
}

/** A group, version and kind as catalog tools print it. */
export function gvkText(group = '', version = '', kind = ''): string {
  return `${group === '' ? '' : `${group}/`}${version}, Kind=${kind}`;
}

/** Group of an entry of spec.customresourcedefinitions, by its name: a field `group` is ignored. */
export function groupOf(entry: unknown): string {
  const name = stringAt(entry, 'name') ?? '';
  return name.slice(name.indexOf('.') + 1);
}

function crdVersions(crd: LocatedObject): readonly CrdVersion[] {
  const spec = crd.object['spec'];
  const group = stringAt(spec, 'group');
  const kind = stringAt(spec, 'names', 'kind');
  const listed = listOf(fieldAt(spec, 'versions')).map(
    (version) => stringAt(version, 'name') ?? '',
  );
  // CRDs of apiextensions.k8s.io/v1beta1 may name a single version.
  const versions = listed.length > 0 ? listed : [stringAt(spec, 'version') ?? ''];
  return versions.map((version) => ({
    crd,
    groupKind: gvkText(group, '', kind),
    gvk: gvkText(group, version, kind),
  }));
}

const domain =
  '(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?\\.)*[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?|\\[[a-fA-F0-9:]+\\]';
const part = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const reference = new RegExp(
  `^(?:(?:${domain})(?::[0-9]+)?/)?${part}(?:/${part})*(?::[\\w][\\w.-]{0,127})?(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$`,
);

/** Checks the images that a mirror for disconnected clusters must copy. */
function relatedImageFindings({ csv }: BundleContent): readonly Finding[] {
  if (csv === undefined) return [];
  return listOf(fieldAt(csv.object['spec'], 'relatedImages')).flatMap((entry, index) => {
    const image = stringAt(entry, 'image') ?? '';
    const place = placeOf(csv, 'spec', 'relatedImages', index, 'image');
    if (image === '') {
      const message = `relatedImages[${index}] has an empty image field`;
      return [error({ place, message, fix: 'name the image, or remove the entry' })];
    }
    if (image.length <= 4096 && reference.test(image)) return [];
    const message = `relatedImages[${index}] has an invalid image pullspec "${image}": invalid reference format`;
    return [error({ place, message, fix: 'write it as <registry>/<repository>@sha256:<digest>' })];
  });
}
