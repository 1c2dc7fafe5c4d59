import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { stageOf, stageProblem } from './stage-of.ts';

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
  // Somebody may have broken it on the live object: its kind decides then.
  expect(stage('Secret', '', staged(value))).toBe(-10);
});

test('an object without annotations has no problem', () => {
  expect(stageProblem(object('Secret'))).toBeUndefined();
});
