import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { hooksOf } from './hook-order.ts';

function aHook(path: string, weight: string | undefined, events = 'pre-install') {
  const [kind = '', name = ''] = path.split('/');
  const annotations = {
    'core.rukpak.io/hook': events,
    ...(weight !== undefined && { 'core.rukpak.io/hook-weight': weight }),
  };
  const apiVersion = kind === 'Job' ? 'batch/v1' : 'v1';
  return { apiVersion, kind, metadata: { name, annotations } } satisfies KubernetesObject;
}

function namesOf(hooks: readonly KubernetesObject[]): string[] {
  return hooks.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
}

test('hooks run by weight, then kind, then name', () => {
  const hooks = [
    aHook('Job/b', '0'),
    aHook('Job/a', undefined),
    aHook('Job/first', '-10'),
    aHook('ConfigMap/z', '0'),
    aHook('Secret/z', '10'),
    aHook('ServiceAccount/z', '+9'),
  ];
  expect(namesOf(hooksOf('pre-install', hooks))).toEqual([
    'Job/first',
    'ConfigMap/z',
    'Job/a',
    'Job/b',
    'ServiceAccount/z',
    'Secret/z',
  ]);
});

test('each event has its own hooks', () => {
  const hooks = [
    aHook('Job/both', '0', 'pre-install,pre-upgrade'),
    aHook('Job/upgrade', '0', 'pre-upgrade'),
  ];
  expect(namesOf(hooksOf('pre-install', hooks))).toEqual(['Job/both']);
  expect(namesOf(hooksOf('pre-upgrade', hooks))).toEqual(['Job/both', 'Job/upgrade']);
  expect(hooksOf('post-delete', hooks)).toEqual([]);
});
