import { type JsonValue, parseJson } from '../../../api/json.ts';
import { fieldAt, isMap, stringAt } from '../../../api/json-fields.ts';
import { TerminalError } from '../../../core/errors.ts';
import { parseIdentifier, parseVersion } from '../../../resolver/versions/index.ts';
import {
  any,
  decodeAs,
  flag,
  listOfShape,
  type Property,
  type Shape,
  struct,
  text,
  textMap,
  texts,
  writeAs,
} from '../../blobs/index.ts';

/**
 * The property `olm.csv.metadata` of a ClusterServiceVersion: the fields that describe an operator.
 * @throws TerminalError `json: cannot unmarshal …` for a field of the wrong type.
 */
export function csvMetadata(csvJson: string): Property {
  const csv = decodeAs(serviceVersion, parseJson(csvJson));
  const fields = Object.keys(metadata.fields).map((name): [string, JsonValue | undefined] => [
    name,
    fieldOf(csv, name),
  ]);
  const json = writeAs(metadata, Object.fromEntries(fields));
  return { type: 'olm.csv.metadata', value: parseJson(json), json };
}

/** Display name in a ClusterServiceVersion; empty if its JSON is empty or has wrong types. */
export function displayNameOf(csvJson: string): string {
  if (csvJson === '') return '';
  try {
    return stringAt(csvMetadata(csvJson).value, 'displayName') ?? '';
  } catch (error) {
    if (error instanceof TerminalError) return '';
    throw error;
  }
}

function fieldOf(csv: JsonValue | undefined, name: string): JsonValue | undefined {
  const path = places[name] ?? ['spec', name];
  return fieldAt(csv, ...path) as JsonValue | undefined;
}

const places: Readonly<Record<string, readonly string[]>> = {
  annotations: ['metadata', 'annotations'],
  labels: ['metadata', 'labels'],
  apiServiceDefinitions: ['spec', 'apiservicedefinitions'],
  crdDescriptions: ['spec', 'customresourcedefinitions'],
};

const described = {
  displayName: text,
  description: text,
};

function descriptors(type: string): Shape {
  return listOfShape(
    struct(`v1alpha1.${type}`, { path: text, ...described, 'x-descriptors': texts, value: any }, [
      'path',
    ]),
  );
}

const details = {
  ...described,
  resources: listOfShape(
    struct('v1alpha1.APIResourceReference', { name: text, kind: text, version: text }, [
      'name',
      'kind',
      'version',
    ]),
  ),
  statusDescriptors: descriptors('StatusDescriptor'),
  specDescriptors: descriptors('SpecDescriptor'),
  actionDescriptors: descriptors('ActionDescriptor'),
};

const crdDescriptions = listOfShape(
  struct('v1alpha1.CRDDescription', { name: text, version: text, kind: text, ...details }, [
    'name',
    'version',
    'kind',
  ]),
);

const serviceDescriptions = listOfShape(
  struct(
    'v1alpha1.APIServiceDescription',
    {
      name: text,
      group: text,
      version: text,
      kind: text,
      deploymentName: text,
      containerPort: { kind: 'integer', type: 'int32' },
      ...details,
    },
    ['name', 'group', 'version', 'kind'],
  ),
);

export const crds = struct('v1alpha1.CustomResourceDefinitions', {
  owned: crdDescriptions,
  required: crdDescriptions,
});

export const services = struct('v1alpha1.APIServiceDefinitions', {
  owned: serviceDescriptions,
  required: serviceDescriptions,
});

const link = struct('v1alpha1.AppLink', { name: text, url: text });

const gvkFields = ['group', 'version', 'kind'];

/** Fields that the property shares with a ClusterServiceVersion. */
export const shown = {
  description: text,
  displayName: text,
  installModes: listOfShape(
    struct(
      'v1alpha1.InstallMode',
      { type: { kind: 'string', type: 'v1alpha1.InstallModeType' }, supported: flag },
      ['type', 'supported'],
    ),
  ),
  keywords: texts,
  links: listOfShape(link),
  maintainers: listOfShape(struct('v1alpha1.Maintainer', { name: text, email: text })),
  maturity: text,
  minKubeVersion: text,
  nativeAPIs: listOfShape(
    struct('v1.GroupVersionKind', { group: text, version: text, kind: text }, gvkFields),
  ),
  provider: link,
} satisfies Readonly<Record<string, Shape>>;

/** Type of the property `olm.csv.metadata`. */
export const metadata = struct('property.CSVMetadata', {
  annotations: textMap,
  apiServiceDefinitions: services,
  crdDescriptions: crds,
  description: shown.description,
  displayName: shown.displayName,
  installModes: shown.installModes,
  keywords: shown.keywords,
  labels: textMap,
  links: shown.links,
  maintainers: shown.maintainers,
  maturity: shown.maturity,
  minKubeVersion: shown.minKubeVersion,
  nativeAPIs: shown.nativeAPIs,
  provider: shown.provider,
});

/** Fields whose types upstream checks, without those below `install`, which are Kubernetes' own. */
const serviceVersion = struct('v1alpha1.ClusterServiceVersion', {
  metadata: struct('v1.ObjectMeta', { name: text, labels: textMap, annotations: textMap }),
  spec: struct('v1alpha1.ClusterServiceVersionSpec', {
    version: { kind: 'parsed', parse: parseTolerant },
    release: { kind: 'parsed', parse: checkRelease },
    ...shown,
    customresourcedefinitions: crds,
    apiservicedefinitions: services,
    icon: listOfShape(struct('v1alpha1.Icon', { base64data: text, mediatype: text })),
    replaces: text,
    skips: texts,
    labels: textMap,
    annotations: textMap,
    relatedImages: listOfShape(struct('v1alpha1.RelatedImage', { name: text, image: text })),
  }),
});

/** Parses a version by the tolerant rules of ClusterServiceVersions: `v1.0` is 1.0.0. */
function parseTolerant(version: string): void {
  const parts = splitInThree(version.trim().replace(/^v/, '')).map(withoutZeros);
  if (parts.length < 3 && /[+-]/.test(parts.at(-1) ?? '')) {
    throw new TerminalError('Short version cannot contain PreRelease/Build meta data');
  }
  while (parts.length < 3) parts.push('0');
  parseVersion(parts.join('.'));
}

function splitInThree(version: string): string[] {
  const [major = '', minor, ...rest] = version.split('.');
  return [
    major,
    ...(minor === undefined ? [] : [minor]),
    ...(rest.length === 0 ? [] : [rest.join('.')]),
  ];
}

function withoutZeros(part: string): string {
  if (part.length < 2) return part;
  const digits = part.replace(/^0+/, '');
  return /^[0-9]/.test(digits) ? digits : `0${digits}`;
}

function checkRelease(release: string): void {
  for (const segment of release.split('.')) parseIdentifier(segment);
}

/** Whether a manifest is a ClusterServiceVersion. */
export function isCsv(value: JsonValue): boolean {
  return isMap(value) && value['kind'] === 'ClusterServiceVersion';
}
