import { fieldAt, listOf } from '../../../../api/json-fields.ts';
import { error, type Finding, warning } from '../finding.ts';
import type { LocatedObject } from '../manifest-objects.ts';
import type { FieldPath } from '../source-lines.ts';
import { placeOf } from './bundle-content.ts';
import { type Check } from './check.ts';

type Rule = (located: LocatedObject) => readonly Finding[];

/** Objects that could harm a cluster, by OLM's own rules for them. */
export const objects: Check = {
  name: 'objects',
  summary: 'budgets, priorities and permissions that could harm a cluster',
  optional: true,
  find: ({ objects: all }) =>
    all.flatMap((located) => rules.get(located.object.kind)?.(located) ?? []),
};

const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['PodDisruptionBudget', disruptionBudget],
  ['PriorityClass', priorityClass],
  ['Role', permissions],
  ['ClusterRole', permissions],
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

/** Of OpenShift; operators that change them change what every other pod may do. */
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

function permissions(located: LocatedObject): readonly Finding[] {
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
