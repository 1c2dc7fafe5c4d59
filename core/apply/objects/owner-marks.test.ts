import { expect, test } from 'vitest';
import {
  applySetID,
  deploymentApplySetID,
  formatGroupKinds,
  parseGroupKinds,
} from './owner-marks.ts';

test('the ID is that of KEP-3659', () => {
  // The ID that kubectl gives a Secret my-set in namespace test.
  expect(applySetID({ name: 'my-set', namespace: 'test', kind: 'Secret', group: '' })).toBe(
    'applyset-0eFHV8ySqp7XoShsGvyWFQD3s96yqwHmzc4e0HR1dsY-v1',
  );
});

test('a cluster-scoped parent has an empty namespace', () => {
  expect(deploymentApplySetID('demo')).toBe(
    applySetID({ name: 'demo', namespace: '', kind: 'BundleDeployment', group: 'core.rukpak.io' }),
  );
  expect(deploymentApplySetID('demo')).not.toBe(deploymentApplySetID('demo2'));
});

test('group-kinds are sorted, listed once, and read back', () => {
  const kinds = [
    { kind: 'Secret', group: '' },
    { kind: 'Deployment', group: 'apps' },
    { kind: 'Role', group: 'rbac.authorization.k8s.io' },
    { kind: 'Secret', group: '' },
  ];
  const text = formatGroupKinds(kinds);
  expect(text).toBe('Deployment.apps,Role.rbac.authorization.k8s.io,Secret');
  expect(parseGroupKinds(text)).toEqual([kinds[1], kinds[2], kinds[0]]);
});

test('a damaged annotation yields what can be read', () => {
  expect(parseGroupKinds(undefined)).toEqual([]);
  expect(parseGroupKinds(' ,,.apps, Deployment.apps ,')).toEqual([
    { kind: 'Deployment', group: 'apps' },
  ]);
});
