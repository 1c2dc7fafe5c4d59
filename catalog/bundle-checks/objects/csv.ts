import { fieldAt, isMap, listOf, mapOf, stringAt } from '../../../api/json-fields.ts';
import { versionProblem } from '../../../resolver/versions/index.ts';
import { type Check, type LocatedObject, placeOf } from '../bundle-content.ts';
import { error, type Finding, warning } from '../problem.ts';
import { exampleFindings } from './csv-examples.ts';
import { nameProblems } from './kube-names.ts';

type Rule = (csv: LocatedObject) => readonly Finding[];

export const csv: Check = {
  name: 'csv',
  summary: 'the ClusterServiceVersion by itself',
  optional: false,
  find: ({ csv: found }) => (found === undefined ? [] : rules.flatMap((rule) => rule(found))),
};

const rules: readonly Rule[] = [
  (found) => badName(found, ['metadata', 'name']),
  (found) => badName(found, ['spec', 'replaces']),
  exampleFindings,
  conversionModes,
  installModes,
  minKubeVersionFindings,
  requiredFields,
  misspelledAnnotations,
  missingApiVersion,
  annotatedProperties,
];

function missingApiVersion(found: LocatedObject): readonly Finding[] {
  if (found.object.apiVersion !== '') return [];
  const fix = 'add it: operators.coreos.com/v1alpha1';
  return [error({ place: placeOf(found), message: `'apiVersion' is missing`, fix })];
}

function badName(found: LocatedObject, path: readonly [string, string]): readonly Finding[] {
  const name = stringAt(found.object, ...path) ?? '';
  if (name === '' && path[0] === 'spec') return [];
  const problems = [...nameProblems('subdomain', name), ...nameProblems('labelValue', name)];
  if (problems.length === 0) return [];
  const message = `${path.join('.')} "${name}" is invalid: ${problems.join(',')}`;
  return [
    error({
      place: placeOf(found, ...path),
      message,
      fix: 'write it as <operator>.v<version>, in lower case',
    }),
  ];
}

function installModes(found: LocatedObject): readonly Finding[] {
  const modes = listOf(fieldAt(found.object['spec'], 'installModes'));
  const place = placeOf(found, 'spec', 'installModes');
  const fix =
    'say of OwnNamespace, SingleNamespace, MultiNamespace and AllNamespaces which it supports';
  if (modes.length === 0) return [error({ place, message: 'install modes not found', fix })];
  if (modes.some((mode) => fieldAt(mode, 'supported') === true)) return [];
  return [error({ place, message: 'none of InstallModeTypes are supported', fix })];
}

function conversionModes(found: LocatedObject): readonly Finding[] {
  const spec = found.object['spec'];
  const webhooks = listOf(fieldAt(spec, 'webhookdefinitions'));
  const at = webhooks.findIndex((each) => listOf(fieldAt(each, 'conversionCRDs')).length > 0);
  const supported = listOf(fieldAt(spec, 'installModes'))
    .filter((mode) => fieldAt(mode, 'supported') === true)
    .map((mode) => stringAt(mode, 'type'));
  if (at === -1 || (supported.length === 1 && supported[0] === 'AllNamespaces')) return [];
  return [
    error({
      place: placeOf(found, 'spec', 'webhookdefinitions', at, 'conversionCRDs'),
      message: 'only AllNamespaces InstallModeType is supported when conversionCRDs is present',
      fix: 'set supported to false for the other install modes: a CRD is converted for all namespaces',
    }),
  ];
}

function requiredFields(found: LocatedObject): readonly Finding[] {
  const spec = found.object['spec'];
  const install = mapOf(fieldAt(spec, 'install'));
  const complaints = [
    ...(Object.keys(install).length === 0
      ? missing(undefined, 'Spec.InstallStrategy', ['install'], 'struct')
      : [
          ...missing(stringAt(install, 'strategy'), 'Spec.InstallStrategy.StrategyName', [
            'install',
            'strategy',
          ]),
          ...missingDeployments(install),
        ]),
    ...missing(stringAt(spec, 'displayName'), 'Spec.DisplayName', ['displayName']),
  ];
  return complaints.map(({ path, message, fix }) =>
    error({ place: placeOf(found, 'spec', ...path), message, fix }),
  );
}

interface Missing {
  readonly path: readonly string[];
  readonly message: string;
  readonly fix: string;
}

function missing(
  value: unknown,
  goField: string,
  ...[path, what = 'field']: [path: readonly string[], what?: string]
): readonly Missing[] {
  if (value !== undefined && value !== '') return [];
  const message = `Field ${goField}, Value ${what}: required field missing`;
  return [{ path, message, fix: `set spec.${path.join('.')}` }];
}

function missingDeployments(install: object): readonly Missing[] {
  const strategy = fieldAt(install, 'spec');
  if (!isMap(strategy)) return [];
  // For these tools an empty list is not missing.
  return missing(
    strategy['deployments'] ?? undefined,
    'Spec.InstallStrategy.StrategySpec.DeploymentSpecs',
    ['install', 'spec', 'deployments'],
  );
}

const knownAnnotations = [
  'olm.operatorGroup',
  'olm.operatorNamespace',
  'olm.targetNamespaces',
  'olm.providedAPIs',
  'olm.skipRange',
];

function misspelledAnnotations(found: LocatedObject): readonly Finding[] {
  return Object.keys(mapOf(found.object.metadata.annotations)).flatMap((key) => {
    const known = knownAnnotations.find((each) => each.toLowerCase() === key.toLowerCase());
    if (known === undefined || known === key) return [];
    const place = placeOf(found, 'metadata', 'annotations', key);
    const message = `provided annotation ${key} uses wrong case and should be ${known} instead`;
    return [error({ place, message, fix: 'rename it' })];
  });
}

function annotatedProperties(found: LocatedObject): readonly Finding[] {
  if (!('olm.properties' in mapOf(found.object.metadata.annotations))) return [];
  const place = placeOf(found, 'metadata', 'annotations', 'olm.properties');
  const message =
    'found olm.properties annotation, please define these properties in metadata/properties.yaml instead';
  return [warning({ place, message, fix: 'move them there' })];
}

const notInformed =
  'csv.Spec.minKubeVersion is not informed. It is recommended you provide this information. ' +
  'Otherwise, it would mean that your operator project can be distributed and installed in any cluster version ' +
  'available, which is not necessarily the case for all projects.';

/** Checks the lowest supported version of Kubernetes: present and valid. */
export function minKubeVersionFindings(csv: LocatedObject): readonly Finding[] {
  const version = stringAt(csv.object['spec'], 'minKubeVersion') ?? '';
  const place = placeOf(csv, 'spec', 'minKubeVersion');
  if (version.trim() === '') {
    return [
      warning({ place, message: notInformed, fix: 'set spec.minKubeVersion, for example 1.25.0' }),
    ];
  }
  if (versionProblem(version) === undefined) return [];
  const message = `csv.Spec.MinKubeVersion has an invalid value: ${version}`;
  return [error({ place, message, fix: 'write it as three numbers, for example 1.25.0' })];
}
