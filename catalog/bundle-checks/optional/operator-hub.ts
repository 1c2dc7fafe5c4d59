import { fieldAt, listOf, stringAt } from '../../../api/json-fields.ts';
import { type Check, type LocatedObject, placeOf } from '../bundle-content.ts';
import { minKubeVersionFindings } from '../objects/csv.ts';
import { error, type Finding, warning } from '../problem.ts';
import type { FieldPath } from '../source-lines.ts';
import { removedApiFindings } from './deprecated-apis.ts';
import { tolerantVersion } from './versions.ts';

type Rule = (csv: LocatedObject) => readonly Finding[];

/** Checks the fields of an operator that OperatorHub.io shows. */
export const operatorHub: Check = {
  name: 'operatorhubv2',
  summary: 'what OperatorHub.io wants to show of an operator',
  optional: true,
  find: (bundle, options) => {
    const { csv } = bundle;
    if (csv === undefined) return [];
    return [...rules.flatMap((rule) => rule(csv)), ...removedApiFindings(bundle, options)];
  },
};

const rules: readonly Rule[] = [
  provider,
  maintainers,
  links,
  version,
  icon,
  minKubeVersionFindings,
];

function provider(csv: LocatedObject): readonly Finding[] {
  if (stringAt(csv.object['spec'], 'provider', 'name')) return [];
  const place = placeOf(csv, 'spec', 'provider', 'name');
  return [
    error({
      place,
      message: 'csv.Spec.Provider.Name not specified',
      fix: 'set spec.provider.name',
    }),
  ];
}

function maintainers(csv: LocatedObject): readonly Finding[] {
  return listOf(fieldAt(csv.object['spec'], 'maintainers')).flatMap((entry, index) => {
    const email = stringAt(entry, 'email') ?? '';
    const at = refusal(csv, ['spec', 'maintainers', index]);
    const isWhole = email !== '' && Boolean(stringAt(entry, 'name'));
    const problem = email === '' ? undefined : addressProblem(email);
    return [
      ...(isWhole
        ? []
        : at(
            'csv.Spec.Maintainers elements should contain both name and email',
            'add what is missing',
          )),
      ...(problem === undefined
        ? []
        : at(
            `csv.Spec.Maintainers email ${email} is invalid: ${problem}`,
            'write an address of mail',
          )),
    ];
  });
}

function addressProblem(email: string): string | undefined {
  if (!email.includes('@')) return `mail: missing '@' or angle-addr`;
  return /^(?:[^<>@]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/.test(email.trim())
    ? undefined
    : 'mail: expected single address';
}

function links(csv: LocatedObject): readonly Finding[] {
  return listOf(fieldAt(csv.object['spec'], 'links')).flatMap((entry, index) => {
    const url = stringAt(entry, 'url') ?? '';
    const at = refusal(csv, ['spec', 'links', index]);
    const isWhole = url !== '' && Boolean(stringAt(entry, 'name'));
    const problem = `parse "${url}": invalid URI for request`;
    return [
      ...(isWhole
        ? []
        : at('csv.Spec.Links elements should contain both name and url', 'add what is missing')),
      ...(url === '' || /^(?:[a-zA-Z][a-zA-Z0-9+.-]*:|\/)\S/.test(url)
        ? []
        : at(`csv.Spec.Links url ${url} is invalid: ${problem}`, 'begin it with https://')),
    ];
  });
}

function version(csv: LocatedObject): readonly Finding[] {
  const written = stringAt(csv.object['spec'], 'version') ?? '';
  const isSet = tolerantVersion(written)?.some((part) => part > 0) ?? written !== '';
  if (isSet) return [];
  return refusal(csv, ['spec', 'version'])(
    'csv.Spec.Version must be set',
    'set spec.version, above 0.0.0',
  );
}

const mediaTypes = ['image/gif', 'image/jpeg', 'image/png', 'image/svg+xml'];

function icon(csv: LocatedObject): readonly Finding[] {
  const icons = fieldAt(csv.object['spec'], 'icon');
  const [first] = listOf(icons);
  const at = refusal(csv, ['spec', 'icon']);
  if (icons === undefined || icons === null) {
    const message = 'csv.Spec.Icon not specified';
    const fix = 'add one icon with base64data and mediatype';
    return [warning({ place: placeOf(csv, 'spec', 'icon'), message, fix })];
  }
  const mediaType = stringAt(first, 'mediatype') ?? '';
  const isWhole = mediaType !== '' && Boolean(stringAt(first, 'base64data'));
  return [
    ...(listOf(icons).length === 1
      ? []
      : at('csv.Spec.Icon should only have one element', 'keep one')),
    ...(isWhole
      ? []
      : at(
          'csv.Spec.Icon elements should contain both data and mediatype',
          'add base64data and mediatype',
        )),
    ...(mediaType === '' || mediaTypes.includes(mediaType)
      ? []
      : at(
          `csv.Spec.Icon ${mediaType} does not have a valid mediatype`,
          `use one of ${mediaTypes.join(', ')}`,
        )),
  ];
}

function refusal(csv: LocatedObject, path: FieldPath): (message: string, fix: string) => [Finding] {
  return (message, fix) => [error({ place: placeOf(csv, ...path), message, fix })];
}

const levels = [
  'Basic Install',
  'Seamless Upgrades',
  'Full Lifecycle',
  'Deep Insights',
  'Auto Pilot',
];

/** Checks the annotation for the capability level of an operator. */
export const capabilities: Check = {
  name: 'capabilities',
  summary: 'the annotation capabilities names a level',
  optional: true,
  find: ({ csv }) => {
    const level = stringAt(csv?.object.metadata.annotations, 'capabilities');
    if (csv === undefined || level === undefined || levels.includes(level)) return [];
    return [
      error({
        place: placeOf(csv, 'metadata', 'annotations', 'capabilities'),
        message: `csv.Metadata.Annotations.Capabilities "${level}" is not a valid capabilities level`,
        fix: `use one of ${levels.join(', ')}`,
      }),
    ];
  },
};

const standard = [
  'AI/Machine Learning',
  'Application Runtime',
  'Big Data',
  'Cloud Provider',
  'Developer Tools',
  'Database',
  'Integration & Delivery',
  'Logging & Tracing',
  'Monitoring',
  'Modernization & Migration',
  'Networking',
  'OpenShift Optional',
  'Security',
  'Storage',
  'Streaming & Messaging',
  'Observability',
];

/** Checks the annotation by which consoles sort operators. */
export const categories: Check = {
  name: 'categories',
  summary: 'the annotation categories names categories of OperatorHub',
  optional: true,
  find: ({ csv }) => {
    const written = stringAt(csv?.object.metadata.annotations, 'categories');
    if (csv === undefined || written === undefined) return [];
    return written
      .split(',')
      .filter((category) => !standard.includes(category.trim()))
      .map((category) =>
        error({
          place: placeOf(csv, 'metadata', 'annotations', 'categories'),
          message: `csv.Metadata.Annotations["categories"] value "${category}" is not in the set of standard categories`,
          fix: `use some of ${standard.join(', ')}`,
        }),
      );
  },
};
