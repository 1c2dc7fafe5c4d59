import { fieldAt, listOf, stringAt } from '../../../api/json-fields.ts';
import { versionProblem } from '../../../resolver/versions/index.ts';
import {
  annotationPrefix,
  annotationsOf,
  type BundleContent,
  type Check,
  type LocatedObject,
  placeOf,
} from '../bundle-content.ts';
import { error, type Finding, warning } from '../problem.ts';
import type { FieldPath } from '../source-lines.ts';

/** Checks what reviewers of catalogs ask for. */
export const goodPractices: Check = {
  name: 'good-practices',
  summary:
    'resource requests, descriptions, names of channels and of the bundle, modest permissions',
  optional: true,
  find: (bundle) => {
    const { csv } = bundle;
    if (csv === undefined) return [];
    return [
      ...containers(csv),
      ...descriptions(csv),
      ...channels(bundle),
      ...definitionRules(csv),
      ...bundleName(csv),
    ];
  },
};

const strategy = ['spec', 'install', 'spec'] as const;

const noRequests =
  'It is recommended to ensure the resource request for CPU and Memory. Be aware that for some clusters configurations ' +
  'it is required to specify requests or limits for those values. Otherwise, the system or quota may ' +
  'reject Pod creation. More info: https://master.sdk.operatorframework.io/docs/best-practices/managing-resources/';

function containers(csv: LocatedObject): readonly Finding[] {
  const deployments = fieldAt(csv.object, ...strategy, 'deployments');
  if (listOf(deployments).length === 0) {
    const place = placeOf(csv, ...strategy, 'deployments');
    const message = 'unable to find a deployment to install in the CSV';
    return [error({ place, message, fix: 'add the deployment of the operator' })];
  }
  return listOf(deployments).flatMap((deployment, at) => {
    const pod = ['spec', 'template', 'spec', 'containers'];
    return listOf(fieldAt(deployment, ...pod)).flatMap((container, index) => {
      if ((fieldAt(container, 'resources', 'requests') ?? null) !== null) return [];
      const name = stringAt(container, 'name') ?? '';
      const place = placeOf(csv, ...strategy, 'deployments', at, ...pod, index, 'resources');
      const message = `unable to find the resource requests for the container: (${name}). ${noRequests}`;
      return [warning({ place, message, fix: 'set resources.requests.cpu and memory' })];
    });
  });
}

function descriptions(csv: LocatedObject): readonly Finding[] {
  return ['owned', 'required'].flatMap((relation) => {
    const path = ['spec', 'customresourcedefinitions', relation];
    return listOf(fieldAt(csv.object, ...path)).flatMap((entry, index) => {
      if (stringAt(entry, 'description')) return [];
      const place = placeOf(csv, ...path, index);
      const message = `${relation} CRD "${stringAt(entry, 'name') ?? ''}" has an empty description`;
      return [warning({ place, message, fix: 'say in its description what the kind is for' })];
    });
  });
}

function channels(bundle: BundleContent): readonly Finding[] {
  const annotations = annotationsOf(bundle);
  const key = `${annotationPrefix}channels.v1`;
  const written = [
    ...(annotations[key] ?? '').split(','),
    annotations[`${annotationPrefix}channel.default.v1`] ?? '',
  ];
  const odd = [...new Set(written.map((channel) => channel.trim()))].filter(
    (channel) => channel !== '' && !/^(?:candidate|fast|stable)/.test(channel),
  );
  if (bundle.annotations === undefined || odd.length === 0) return [];
  const names = odd.map((channel) => `"${channel}"`).join(' ');
  return [
    warning({
      place: { file: bundle.annotations.file, document: 0, path: ['annotations', key] },
      message: `channel(s) [${names}] are not following the recommended naming convention: https://olm.operatorframework.io/docs/best-practices/channel-naming`,
      fix: 'begin their names with candidate, fast or stable',
    }),
  ];
}

const metaOperator =
  "CSV contains permissions to create CRD. An Operator shouldn't deploy or manage other operators " +
  '(such patterns are known as meta or super operators or include CRDs in its Operands). ' +
  "It's the Operator Lifecycle Manager's job to manage the deployment and lifecycle of operators.  " +
  'Please, review the design of your solution and if you should not be using Dependency Resolution from OLM instead. ' +
  'More info: https://sdk.operatorframework.io/docs/best-practices/common-recommendation/';

function definitionRules(csv: LocatedObject): readonly Finding[] {
  const places = ['permissions', 'clusterPermissions'].flatMap((field) =>
    listOf(fieldAt(csv.object, ...strategy, field)).flatMap((entry, at) =>
      listOf(fieldAt(entry, 'rules')).flatMap((rule, index) =>
        createsDefinitions(rule) ? [placeOf(csv, ...strategy, field, at, 'rules', index)] : [],
      ),
    ),
  );
  const [place] = places;
  if (place === undefined) return [];
  return [
    warning({
      place,
      message: metaOperator,
      fix: 'ship the CRDs in the bundle, and drop the rule',
    }),
  ];
}

function createsDefinitions(rule: unknown): boolean {
  const has = (field: string, wanted: readonly string[]) =>
    listOf(fieldAt(rule, field)).some((each) => wanted.some((one) => one === each));
  return (
    has('apiGroups', ['apiextensions.k8s.io']) &&
    has('resources', ['customresourcedefinitions', '*', '[*]']) &&
    has('verbs', ['create', '*', '[*]', 'patch'])
  );
}

function bundleName(csv: LocatedObject): readonly Finding[] {
  const name = stringAt(csv.object.metadata, 'name') ?? '';
  const [, version] = name.split('.v');
  const place = placeOf(csv, 'metadata', 'name');
  if (version === undefined) {
    const message = `csv.metadata.Name ${name} is not following the recommended naming convention: <operator-name>.v<semver> e.g. memcached-operator.v0.0.1`;
    return [warning({ place, message, fix: 'rename it so' })];
  }
  if (versionProblem(version) === undefined) return [];
  const message = `csv.metadata.Name ${name} is not following the versioning convention (MAJOR.MINOR.PATCH e.g 0.0.1): https://semver.org/`;
  return [warning({ place, message, fix: 'end its name with the version' })];
}

type ObjectCheck = (located: LocatedObject) => readonly Finding[];

/** Finds objects that could harm a cluster, by OLM's own rules for them. */
export const objects: Check = {
  name: 'objects',
  summary: 'budgets, priorities and permissions that could harm a cluster',
  optional: true,
  find: ({ objects: all }) =>
    all.flatMap((located) => harmfulKinds.get(located.object.kind)?.(located) ?? []),
};

const harmfulKinds: ReadonlyMap<string, ObjectCheck> = new Map<string, ObjectCheck>([
  ['PodDisruptionBudget', disruptionBudget],
  ['PriorityClass', priorityClass],
  ['Role', harmfulPermissions],
  ['ClusterRole', harmfulPermissions],
]);

function disruptionBudget(located: LocatedObject): readonly Finding[] {
  const { maxUnavailable, minAvailable } = (located.object['spec'] ?? {}) as Record<
    string,
    unknown
  >;
  const at = findingAt(located);
  return [
    ...(maxUnavailable === 0 || maxUnavailable === '0%'
      ? [
          at(
            ['spec', 'maxUnavailable'],
            'maxUnavailable field cannot be set to 0 or 0%',
            'allow at least one',
          ),
        ]
      : []),
    ...(minAvailable === '100%'
      ? [at(['spec', 'minAvailable'], 'minAvailable field cannot be set to 100%', 'ask for fewer')]
      : []),
  ];
}

function priorityClass(located: LocatedObject): readonly Finding[] {
  if (located.object['globalDefault'] !== true) return [];
  const message = 'globalDefault field cannot be set to true';
  return [
    findingAt(located)(['globalDefault'], message, 'remove it: it is for all pods of the cluster'),
  ];
}

/** OpenShift's own; an operator that changes them changes the permissions of all other pods. */
const ownConstraints = [
  'privileged',
  'restricted',
  'anyuid',
  'hostaccess',
  'hostmount-anyuid',
  'hostnetwork',
  'node-exporter',
  'nonroot',
];

function harmfulPermissions(located: LocatedObject): readonly Finding[] {
  return listOf(located.object['rules']).flatMap((rule, index) => {
    const has = (field: string, ...wanted: readonly string[]) =>
      listOf(fieldAt(rule, field)).some((each) => wanted.some((one) => one === each));
    const place = placeOf(located, 'rules', index);
    const budgets =
      has('apiGroups', 'policy') &&
      has('resources', 'poddisruptionbudgets') &&
      has('verbs', '*', 'create', 'update', 'patch');
    const constraints =
      has('apiGroups', 'security.openshift.io') &&
      has('resources', 'securitycontextconstraints') &&
      has('verbs', '*', 'delete', 'update', 'patch') &&
      has('resourceNames', ...ownConstraints);
    return [
      ...(budgets ? [warning({ place, ...budgetRule })] : []),
      ...(constraints ? [error({ place, ...constraintRule })] : []),
    ];
  });
}

const budgetRule = {
  message:
    'RBAC includes permission to create/update poddisruptionbudgets, which could impact cluster stability',
  fix: 'drop the verbs, or tell users why the operator needs them',
};

const constraintRule = {
  message:
    'RBAC includes permission to modify default securitycontextconstraints, which could impact cluster stability',
  fix: 'make a SecurityContextConstraints of your own',
};

function findingAt(
  located: LocatedObject,
): (path: FieldPath, message: string, fix: string) => Finding {
  return (path, message, fix) => error({ place: placeOf(located, ...path), message, fix });
}
