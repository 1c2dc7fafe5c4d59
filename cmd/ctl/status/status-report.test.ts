import { describe, expect, test } from 'vitest';
import type { Condition } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { aBundleOf, nameOf, v1, v2 } from '../../../test/helpers/bundle-deployment-fixture.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { treeLines } from '../terminal/tree.ts';
import { advice } from './advice.ts';
import { type BundleReport, bundleReports, describeSource } from './bundle-report.ts';
import { deploymentState, isGood } from './deployment-state.ts';
import type { ObjectReport } from './object-report.ts';
import type { StatusReport } from './status-report.ts';
import { statusTree } from './status-tree.ts';

const now = Date.parse('2030-01-01T01:00:00Z');
const old = '2030-01-01T00:00:00Z';

function aCondition(type: string, status: Condition['status'], message = ''): Condition {
  return { type, status, reason: `Reason${type}`, message, lastTransitionTime: old };
}

interface DeploymentFields {
  readonly conditions?: readonly Condition[];
  readonly activeBundle?: string;
  readonly observedGeneration?: number;
  readonly metadata?: BundleDeployment['metadata'];
}

function aDeployment({ metadata, conditions = [], ...status }: DeploymentFields): BundleDeployment {
  return aStoredDeployment({
    template: v2,
    metadata: { creationTimestamp: old, ...metadata },
    status: { observedGeneration: 1, conditions: [...conditions], ...status },
  });
}

function aReport(deployment: BundleDeployment, parts: Partial<StatusReport> = {}): StatusReport {
  const objects = { total: 0, healthy: 0, items: [], hidden: [] };
  const systemNamespace = 'rukpak-system';
  return { name: 'demo', systemNamespace, deployment, bundles: [], objects, ...parts };
}

const [valid, installed, healthy] = [
  aCondition('HasValidBundle', 'True'),
  aCondition('Installed', 'True'),
  aCondition('Healthy', 'True'),
];

const unhealthy = aDeployment({ conditions: [valid, installed, aCondition('Healthy', 'False')] });
const sick: ObjectReport = {
  apiVersion: 'v1',
  kind: 'Pod',
  namespace: 'ns',
  name: 'p',
  status: 'Failed',
  message: '',
};

describe('the state of a deployment', () => {
  test.each<[string, DeploymentFields, string, string]>([
    ['healthy', { conditions: [valid, installed, healthy] }, 'Healthy', ''],
    ['installed, health not reported', { conditions: [valid, installed] }, 'Installed', ''],
    [
      'not healthy',
      { conditions: [valid, installed, aCondition('Healthy', 'False', 'x')] },
      'Unhealthy',
      'ReasonHealthy: x',
    ],
    [
      'refused',
      { conditions: [valid, aCondition('Installed', 'False', 'x')] },
      'NotInstalled',
      'ReasonInstalled: x',
    ],
    [
      'pending',
      { conditions: [aCondition('HasValidBundle', 'False')] },
      'NotInstalled',
      'ReasonHasValidBundle',
    ],
    [
      'held up before anything is installed',
      { conditions: [valid, aCondition('Progressing', 'False', 'x')] },
      'NotInstalled',
      'ReasonProgressing: x',
    ],
    [
      'rolled back',
      { conditions: [valid, installed, healthy, aCondition('Progressing', 'False', 'x')] },
      'Healthy',
      'ReasonProgressing: x',
    ],
    [
      'pending upgrade',
      { conditions: [aCondition('HasValidBundle', 'False', 'x'), installed, healthy] },
      'Installed',
      'the next Bundle is not ready: ReasonHasValidBundle: x',
    ],
    [
      'refused before, and now nothing to install',
      {
        conditions: [
          aCondition('HasValidBundle', 'False', 'x'),
          aCondition('Installed', 'False', 'y'),
        ],
      },
      'NotInstalled',
      'ReasonHasValidBundle: x',
    ],
    [
      'changed since',
      { conditions: [valid, installed], metadata: { generation: 2 } },
      'NotObserved',
      'no manager has reconciled its last change yet (generation 2, seen 1)',
    ],
    [
      'being deleted',
      { metadata: { deletionTimestamp: old, finalizers: ['a/b'] } },
      'Deleting',
      'waits for a/b',
    ],
  ])('%s', (...[, fields, state, reason]) => {
    expect(deploymentState(aDeployment(fields))).toEqual({ state, reason });
    expect(isGood(aDeployment(fields))).toBe(reason === '');
  });
});

test('a failed upgrade leaves the active version installed, and the new one failed', () => {
  const refused = { ...aCondition('Installed', 'False', 'x'), reason: 'UpgradeFailed' };
  const unpacked = { ...valid, reason: 'UnpackSuccessful' };
  const deployment = aDeployment({ conditions: [unpacked, refused], activeBundle: nameOf(v1) });
  expect(deploymentState(deployment)).toEqual({
    state: 'Installed',
    reason: `Bundle ${nameOf(v2)} is not installed: UpgradeFailed: x`,
  });
  expect(isGood(deployment)).toBe(false);
  const reports = bundleReports(deployment, [aBundleOf(v2), aBundleOf(v1)]);
  expect(reports.map(({ name, role }) => [name, role])).toEqual([
    [nameOf(v1), 'active'],
    [nameOf(v2), 'failed'],
  ]);
});

describe('the Bundles of a deployment', () => {
  test('that are being deleted say what they wait for', () => {
    const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['example.com/a'] };
    const [report] = bundleReports(aDeployment({}), [aBundleOf(v1, undefined, metadata)]);
    expect(report).toMatchObject({
      phase: 'Deleting',
      message: 'deletion requested at 2026-01-01T00:00:00Z, waits for its finalizers example.com/a',
    });
  });

  test('are active, next or superseded, in that order', () => {
    const deployment = aDeployment({ activeBundle: nameOf(v1) });
    const failing = aBundleOf(v1, { phase: 'Failing' }, { name: 'demo-older' });
    const reports = bundleReports(deployment, [failing, aBundleOf(v2, {}), aBundleOf(v1)]);
    expect(reports.map(({ name, role, phase }) => [name, role, phase])).toEqual([
      [nameOf(v1), 'active', 'Unpacked'],
      [nameOf(v2), 'next', ''],
      ['demo-older', 'superseded', 'Failing'],
    ]);
  });

  test('do not come next once they were given up', () => {
    const rollback = { from: nameOf(v2), to: nameOf(v1), reason: 'x', at: old };
    const { status, ...rest } = aDeployment({ activeBundle: nameOf(v1) });
    const deployment = { ...rest, status: { ...status, rollback } };
    const reports = bundleReports(deployment, [aBundleOf(v2), aBundleOf(v1)]);
    expect(reports.map(({ role }) => role)).toEqual(['active', 'superseded']);
  });

  test('show their sources without passwords', () => {
    const git = {
      type: 'git',
      git: { repository: 'https://me:secret@example.com/x.git', ref: { branch: 'main' } },
    };
    expect(describeSource(git)).toBe('git https://me:***@example.com/x.git main');
    const mail = { repository: 'https://me@example.com:se@cret@git.example/x', ref: { tag: 'v1' } };
    expect(describeSource({ type: 'git', git: mail })).toBe(
      'git https://me@example.com:***@git.example/x v1',
    );
    const http = { type: 'http', http: { url: 'http://me:secret@example.com/a@b' } };
    expect(describeSource(http)).toBe('http http://me:***@example.com/a@b');
    const configMaps = [{ configMap: { name: 'a' } }, { configMap: { name: 'b' } }];
    expect(describeSource({ type: 'configMaps', configMaps })).toBe('configMaps a, b');
    expect(describeSource({ type: 'upload', upload: {} })).toBe('upload');
    const parameters = { bucket: 'a', url: 'https://me:hunter2@s3.example', more: [1] };
    expect(describeSource({ type: 'acme-s3', parameters })).toBe(
      'acme-s3 bucket=a url=https://me:***@s3.example',
    );
  });
});

describe('advice', () => {
  function aBundle(fields: Partial<BundleReport>): BundleReport {
    return {
      name: 'demo-1',
      role: 'next',
      class: 'plain',
      phase: '',
      source: 'image x',
      created: old,
      ...fields,
    };
  }
  const pending = aDeployment({ conditions: [aCondition('HasValidBundle', 'False')] });
  function aWaiting(reason: string): BundleDeployment {
    return aDeployment({ conditions: [valid, { ...aCondition('Progressing', 'False'), reason }] });
  }
  function aRefused(message: string): BundleDeployment {
    return aDeployment({ conditions: [valid, aCondition('Installed', 'False', message)] });
  }
  const plan = {
    bundle: 'b',
    digest: 'd',
    createdAt: '2026-01-01T00:00:00Z',
    create: 1,
    change: 0,
    delete: 0,
    unchanged: 0,
    changes: [],
  };
  test.each<[string, StatusReport, string | undefined]>([
    ['nothing', aReport(aDeployment({ conditions: [valid, installed, healthy] })), undefined],
    [
      'a class that nobody serves',
      aReport(aDeployment({ metadata: { generation: 2 } })),
      'no manager has reconciled it for 60m: is a manager running that serves class "plain" (rukpak core --provisioner …), or',
    ],
    [
      'a class that applies nothing',
      aReport(aStoredDeployment({ className: 'core-rukpak-io-registry' })),
      'write core-rukpak-io-plain as spec.provisionerClassName',
    ],
    [
      'a change of this moment',
      aReport(
        aDeployment({ metadata: { generation: 2, creationTimestamp: '2030-01-01T00:59:58Z' } }),
      ),
      'a moment ago',
    ],
    [
      'an upload that did not come',
      aReport(pending, { bundles: [aBundle({ phase: 'Pending', source: 'upload' })] }),
      'rukpakctl run demo <directory>',
    ],
    [
      'a source that is away',
      aReport(pending, { bundles: [aBundle({ phase: 'Pending' })] }),
      'make "image x" reachable',
    ],
    [
      'bad content',
      aReport(pending, { bundles: [aBundle({ phase: 'Failing' })] }),
      'rukpakctl does not know why Bundle "demo-1" fails: its message names the problem',
    ],
    [
      'an operator of some namespaces',
      aReport(pending, {
        bundles: [
          aBundle({ phase: 'Failing', message: 'AllNamespace install mode must be enabled' }),
        ],
      }),
      'name one in spec.config.watchNamespace of BundleDeployment "demo"',
    ],
    [
      'a config that the operator does not support',
      aReport(aRefused('supported install modes [a] do not support target namespaces [b]: …')),
      'correct spec.config of BundleDeployment',
    ],
    [
      'a config with a slip in it',
      aReport(aRefused('parse deployment config: spec.config.enV is not known')),
      'correct spec.config of BundleDeployment',
    ],
    [
      'a config with a slip in it, of what is installed',
      aReport(
        aDeployment({
          conditions: [
            aCondition('HasValidBundle', 'False', 'parse deployment config: x'),
            installed,
            healthy,
          ],
        }),
      ),
      'correct spec.config of BundleDeployment',
    ],
    [
      'a namespace that is not there',
      aReport(aRefused('required resource not found: namespaces "shop" not found')),
      'kubectl create namespace shop: core continues by itself',
    ],
    [
      'permissions that are missing',
      aReport(aRefused('ServiceAccount "a" in namespace "b" lacks permissions for this, …')),
      'review the output of "rukpakctl permissions demo --missing"',
    ],
    [
      'a ServiceAccount that is not there',
      aReport(
        aRefused(
          'ServiceAccount "a" in namespace "b", which spec.serviceAccount names, does not exist: …',
        ),
      ),
      'kubectl create serviceaccount a --namespace b',
    ],
    [
      'objects of others',
      aReport(aRefused('X "y" exists and cannot be imported into the current release: …')),
      'the message of condition Installed ends with the commands',
    ],
    [
      'a deletion that waits',
      aReport({
        ...aWaiting('WaitingForDependents'),
        metadata: { deletionTimestamp: old, finalizers: ['a/b'] },
      }),
      'condition Progressing above says what the deletion waits for',
    ],
    [
      'kinds that are not there',
      aReport(aRefused('no matches for kind "ServiceMonitor" in version "v1"')),
      'install the provider of the kinds',
    ],
    [
      'an operator that is taken for plain content',
      aReport(aRefused('no matches for kind "ClusterServiceVersion" in version "v1"')),
      'rukpakctl run --bundle-provisioner-class core-rukpak-io-registry demo <directory>',
    ],
    [
      'a CRD of others that is not there',
      aReport(aRefused('the operator needs APIs that the cluster does not serve: x: install …')),
      'install what the condition names',
    ],
    [
      'a cluster that is too old',
      aReport(aRefused('the operator needs Kubernetes 1.30.0 or later (spec.minKubeVersion), and')),
      'upgrade the cluster',
    ],
    [
      'certificates of another provider',
      aReport(aRefused('core runs with --certificates=cert-manager, and the cluster has no …')),
      'core cannot issue the certificates',
    ],
    [
      'an annotation for certificates',
      aReport(aRefused('annotation core.rukpak.io/inject-ca-from of X "y" is "z": it must be')),
      'docs/howto/certificates.md',
    ],
    [
      'a Bundle that nobody looks at',
      aReport(pending, { bundles: [aBundle({ class: 'other' })] }),
      'for 60m: is a manager running that serves class "other" (',
    ],
    [
      'a dependency',
      aReport(aWaiting('WaitingForDependencies')),
      'rukpakctl status shows why each is not',
    ],
    [
      'what nobody has written down',
      aReport(aRefused('the moon is full')),
      'rukpakctl does not know a cure for this: condition Ready names the problem',
    ],
    [
      'a class that nobody serves, by what core says',
      aReport(
        aStoredDeployment({
          status: {
            conditions: [
              aCondition(
                'Ready',
                'Unknown',
                'no manager reconciles this BundleDeployment: either class "plian" is misspelt (did you mean "plain"?), or',
              ),
            ],
          },
        }),
      ),
      'write "plain" as spec.provisionerClassName of BundleDeployment "demo"',
    ],
    ['a stage', aReport(aWaiting('WaitingForStage')), 'kubectl describe shows why each is not'],
    [
      'a hook',
      aReport(aWaiting('WaitingForHook')),
      'kubectl describe and kubectl logs show its progress',
    ],
    [
      'an approval',
      aReport({
        ...aWaiting('AwaitingApproval'),
        status: { ...aWaiting('AwaitingApproval').status, plan },
      }),
      'approve it: rukpakctl approve ',
    ],
    [
      'a plan that cannot be made',
      aReport(aWaiting('AwaitingApproval')),
      'remove the obstacle that condition Progressing names',
    ],
    [
      'an object',
      aReport(unhealthy, { objects: { total: 1, healthy: 0, items: [sick], hidden: [] } }),
      'kubectl describe pod p --namespace ns',
    ],
  ])('for %s', (_case, report, text) => {
    const found = advice(report, now);
    if (text === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(text);
  });
});

describe('the tree', () => {
  const many: readonly ObjectReport[] = Array.from({ length: 60 }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: `c${index}`,
    status: index === 7 ? 'InProgress' : 'Current',
    message: '',
  }));
  const objects = { total: 60, healthy: 59, items: many, hidden: ['Secret'] };
  const report = aReport(aDeployment({}), { objects });

  test('lists of many objects those that are not healthy, and what it could not see', () => {
    const lines = treeLines(statusTree(report, { allObjects: false }));
    expect(lines.slice(-3)).toEqual([
      '`-- objects: 59 of 60 healthy (healthy ones are listed with --all-objects)',
      '    |-- ConfigMap/c7  InProgress',
      '    `-- Secret        Unknown     you may not list this kind',
    ]);
    expect(treeLines(statusTree(report, { allObjects: true }))).toHaveLength(65);
  });

  test('lists what hooks have made, and does not count it', () => {
    const job: ObjectReport = { ...sick, kind: 'Job', name: 'migrate', message: 'x', hook: true };
    const items = [{ ...sick, name: 'web', status: 'Current' }, job];
    const hooked = aReport(unhealthy, { objects: { total: 1, healthy: 1, items, hidden: [] } });
    expect(treeLines(statusTree(hooked, { allObjects: false })).slice(-3)).toEqual([
      '`-- objects: 1 of 1 healthy',
      '    |-- Pod/ns/web      Current',
      '    `-- Job/ns/migrate  Failed   hook: x',
    ]);
    expect(advice(hooked, now)).toBeUndefined();
  });
});
