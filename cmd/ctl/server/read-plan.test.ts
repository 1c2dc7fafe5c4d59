import { expect, test } from 'vitest';
import { planLines } from './read-plan.ts';

const plan = {
  bundleDeployment: 'shop',
  bundle: 'shop-abc',
  digest: 'd1',
  createdAt: '2026-01-01T00:00:00Z',
  create: 1,
  change: 1,
  delete: 1,
  unchanged: 2,
  changes: [
    { action: 'Create', group: '', kind: 'Namespace', name: 'a' },
    {
      action: 'Change',
      group: 'apps',
      kind: 'Deployment',
      namespace: 'shop',
      name: 'web',
      fields: [
        { path: 'spec.replicas', before: '1', after: '2' },
        { path: 'spec.made', after: '"x"' },
        { path: 'spec.gone', before: '"y"' },
      ],
      moreFields: 3,
    },
    { action: 'Delete', group: '', kind: 'ConfigMap', namespace: 'shop', name: 'old' },
  ],
  problems: [],
  warnings: [],
} as const;

test('a plan is a line for each object and each field', () => {
  expect(planLines(plan)).toEqual([
    'plan d1',
    'of Bundle shop-abc for BundleDeployment shop, made at 2026-01-01T00:00:00Z',
    '',
    'create Namespace a',
    'change Deployment.apps shop/web',
    '    spec.replicas: 1 -> 2',
    '    spec.made: + "x"',
    '    spec.gone: - "y"',
    '    … and 3 more fields',
    'delete ConfigMap shop/old',
    '',
    '1 to create, 1 to change, 1 to delete, 2 unchanged',
  ]);
});

test('says what is missing in it, and why it would fail', () => {
  const problems = ['ConfigMap "a": denied'];
  const [, , , ...lines] = planLines({
    ...plan,
    create: 9,
    truncated: true,
    problems,
    warnings: ['w'],
  });
  expect(lines.slice(-5)).toEqual([
    '… and 8 more',
    '',
    '9 to create, 1 to change, 1 to delete, 2 unchanged',
    'warning: w',
    'would fail: ConfigMap "a": denied',
  ]);
});

test('names the hooks that would run', () => {
  const hooks = ['pre-upgrade hook Job/shop/migrate', 'post-upgrade hook Job/shop/tell'];
  expect(planLines({ ...plan, hooks }).slice(-2)).toEqual([
    'would run pre-upgrade hook Job/shop/migrate',
    'would run post-upgrade hook Job/shop/tell',
  ]);
});

test('names the objects that core would orphan, and why', () => {
  const crd = { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition', name: 'a.b' };
  const orphan = { action: 'Orphan', ...crd, because: 'the deletion policy is KeepCRDs' } as const;
  const changes = [...plan.changes, orphan];
  expect(planLines({ ...plan, orphan: 1, changes }).slice(-4)).toEqual([
    'delete ConfigMap shop/old',
    'orphan CustomResourceDefinition.apiextensions.k8s.io a.b (the deletion policy is KeepCRDs)',
    '',
    '1 to create, 1 to change, 1 to delete, 1 to orphan, 2 unchanged',
  ]);
  const [last] = planLines({ ...plan, orphan: 5, truncated: true }).slice(-3);
  expect(last).toBe('… and 5 more');
});

test('a name that breaks its line adds none', () => {
  const name = 'a\n\n0 to create, 0 to change, 0 to delete, 9 unchanged';
  const changes = [{ action: 'Create', group: 'x.y', kind: 'Z', name }] as const;
  expect(planLines({ ...plan, changes })[3]).toBe(
    String.raw`create Z.x.y a\x0a\x0a0 to create, 0 to change, 0 to delete, 9 unchanged`,
  );
});
