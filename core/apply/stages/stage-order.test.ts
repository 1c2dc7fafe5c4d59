import { describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { aDesiredObject } from '../../../test/helpers/desired-objects.ts';
import { checkStageOrder, stageOf, stageProblem } from './stage-order.ts';

function stage(kind: string, group = '', annotations?: object): number {
  return stageOf({ resource: { group, kind }, object: object(kind, annotations) });
}

function object(kind: string, annotations?: object): KubernetesObject {
  const metadata = { name: 'a', ...(annotations === undefined ? {} : { annotations }) };
  return { apiVersion: 'v1', kind, metadata } as KubernetesObject;
}

const staged = (value: unknown) => ({ 'core.rukpak.io/stage': value });

test.each([
  ['Namespace', '', -20],
  ['CustomResourceDefinition', 'apiextensions.k8s.io', -20],
  ['Namespace', 'example.com', -10],
  ['NetworkPolicy', 'networking.k8s.io', -10],
  ['ServiceAccount', '', -10],
  ['Secret', '', -10],
  ['ClusterRoleBinding', 'rbac.authorization.k8s.io', -10],
  ['Service', '', -10],
  ['PersistentVolumeClaim', '', 0],
  ['DaemonSet', 'apps', 0],
  ['HorizontalPodAutoscaler', 'autoscaling', 0],
  ['CronJob', 'batch', 0],
  ['Ingress', 'networking.k8s.io', 10],
  ['APIService', 'apiregistration.k8s.io', 10],
  ['Widget', 'example.com', 10],
])('%s of group "%s" has stage %i', (kind, group, expected) => {
  expect(stage(kind, group)).toBe(expected);
});

test.each([
  ['5', 5],
  ['-1', -1],
  ['0', 0],
  ['-999999', -999_999],
])('the annotation %s sets the stage', (text, expected) => {
  expect(stage('Secret', '', staged(text))).toBe(expected);
  expect(stageProblem(object('Secret', staged(text)))).toBeUndefined();
});

test.each([
  ['first', '"first"'],
  ['', '""'],
  ['1.5', '"1.5"'],
  ['1e3', '"1e3"'],
  ['+1', '"+1"'],
  ['1234567', '"1234567"'],
  [3, '3'],
  [null, 'null'],
])('the annotation %j is no stage', (value, shown) => {
  const content = object('Secret', staged(value));
  expect(stageProblem(content)).toBe(
    `annotation core.rukpak.io/stage is ${shown}: it must be a whole number of at most six digits, in quotes, such as "5" or "-1"`,
  );
  // Somebody may have made the live object's annotation invalid: then its kind decides.
  expect(stage('Secret', '', staged(value))).toBe(-10);
});

test('an object without annotations has no problem', () => {
  expect(stageProblem(object('Secret'))).toBeUndefined();
});

describe('stage order', () => {
  const staged = (stage: number) => ({ annotations: { 'core.rukpak.io/stage': String(stage) } });

  function definition(metadata: object = {}) {
    return aDesiredObject({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.example.com', ...metadata },
      spec: { group: 'example.com', names: { kind: 'Widget' } },
    });
  }

  function widget(metadata: object = {}) {
    return aDesiredObject({
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'a', namespace: 'web', ...metadata },
    });
  }

  function namespace(metadata: object = {}) {
    return aDesiredObject({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'web', ...metadata },
    });
  }

  describe('refused is', () => {
    test('a custom resource in a stage before its CRD', () => {
      expect(() => checkStageOrder([definition(staged(20)), widget()], 'install')).toThrow(
        'Widget "a" in namespace "web" is in stage 10, before stage 20 of CustomResourceDefinition "widgets.example.com" that it needs: change the annotation core.rukpak.io/stage of one of them',
      );
    });

    test('an object in a stage before its namespace, by the reason of the operation', () => {
      const check = () => checkStageOrder([widget(staged(-30)), namespace()], 'upgrade');
      expect(check).toThrow(
        expect.objectContaining({
          reason: 'UpgradeFailed',
          message: expect.stringContaining('before stage -20 of Namespace "web" that it needs'),
        }),
      );
    });
  });

  describe('fine is', () => {
    test.each([
      ['a set without annotations', [definition(), widget(), namespace()]],
      ['the same stage', [definition(staged(10)), widget()]],
      ['a CRD that comes first', [definition(staged(-40)), widget(staged(-30))]],
      ['what the cluster has already', [widget(staged(-100))]],
    ])('%s', (_, objects) => {
      expect(() => checkStageOrder(objects, 'install')).not.toThrow();
    });
  });
});
