import { describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { anObject } from '../../../test/helpers/registry-bundle.ts';
import { hookOf, hookProblem, hooksOf, isHook, splitHooks } from './hook.ts';

function aHook(annotations: Readonly<Record<string, unknown>>, name = 'x') {
  const prefixed = Object.entries(annotations).map(([key, value]) => [
    `core.rukpak.io/${key}`,
    value,
  ]);
  return anObject('Job', {
    name,
    annotations: Object.fromEntries(prefixed) as Record<string, string>,
  });
}

test('a hook says when it runs, in which order and when it is deleted', () => {
  const hook = aHook({
    hook: 'pre-install, pre-upgrade',
    'hook-weight': '-5',
    'hook-delete-policy': 'hook-succeeded,hook-failed',
  });
  expect(hookOf(hook)).toEqual({
    events: ['pre-install', 'pre-upgrade'],
    weight: -5,
    policies: ['hook-succeeded', 'hook-failed'],
  });
  expect(hookProblem(hook)).toBeUndefined();
});

test('a weight may be as large as charts have them', () => {
  const weight = String(Number.MAX_SAFE_INTEGER).slice(0, 15);
  const hook = aHook({ hook: 'post-install', 'hook-weight': weight });
  expect(hookProblem(hook)).toBeUndefined();
  expect(hookOf(hook).weight).toBe(Number(weight));
});

test('a hook that says no more has weight 0, and its earlier object goes first', () => {
  expect(hookOf(aHook({ hook: 'post-delete' }))).toEqual({
    events: ['post-delete'],
    weight: 0,
    policies: ['before-hook-creation'],
  });
});

describe('a hook is refused where', () => {
  test.each<[why: string, annotations: Readonly<Record<string, unknown>>, problem: string]>([
    [
      'an event is none',
      { hook: 'pre-instal' },
      'annotation core.rukpak.io/hook is "pre-instal": it must be a list of pre-install, post-install, pre-upgrade, post-upgrade, pre-delete, post-delete',
    ],
    ['it names no event', { hook: ' , ' }, 'annotation core.rukpak.io/hook is " , ": it must be'],
    [
      'the annotation is no text',
      { hook: true },
      'annotation core.rukpak.io/hook is true: it must',
    ],
    [
      'its weight is no number',
      { hook: 'pre-install', 'hook-weight': 'heavy' },
      'annotation core.rukpak.io/hook-weight is "heavy": it must be a whole number in quotes, such as "5" or "-1"',
    ],
    [
      'a policy is none',
      { hook: 'pre-install', 'hook-delete-policy': 'hook-succeded' },
      'annotation core.rukpak.io/hook-delete-policy is "hook-succeded": it must be a list of before-hook-creation, hook-succeeded, hook-failed',
    ],
  ])('%s', (_, annotations, problem) => {
    expect(hookProblem(aHook(annotations))).toContain(problem);
  });
});

test('objects without the annotation are no hooks, and stay as they are', () => {
  const objects = [anObject('ConfigMap'), anObject('Secret')];
  expect(objects.some(isHook)).toBe(false);
  expect(splitHooks(objects).objects).toBe(objects);
});

test('a list is always split into the same two', () => {
  const [kept, hook] = [anObject('ConfigMap'), aHook({ hook: 'pre-install' })];
  const list = [kept, hook];
  const split = splitHooks(list);
  expect(split).toEqual({ objects: [kept], hooks: [hook] });
  expect(splitHooks(list)).toBe(split);
});

describe('hook order', () => {
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
});
