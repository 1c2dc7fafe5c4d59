import { expect, test } from 'vitest';
import { aDesiredObject } from '../../../test/helpers/desired-objects.ts';
import type { CheckedObject } from '../objects/planned.ts';
import { stagesToRun } from './foundation-stage.ts';

function aChecked(kind: string, name: string, annotations?: object): CheckedObject {
  const apiVersion = kind === 'CustomResourceDefinition' ? 'apiextensions.k8s.io/v1' : 'v1';
  const metadata = { name, ...(annotations && { annotations: { ...annotations } }) };
  const desired = aDesiredObject({ apiVersion, kind, metadata });
  const unchecked = { live: undefined, repair: false, dropControllers: false, takeOver: false };
  return { desired, ...unchecked, createOnly: true };
}

const pending = [
  aChecked('Namespace', 'ns'),
  aChecked('CustomResourceDefinition', 'crd'),
  aChecked('CustomResourceDefinition', 'late', { 'core.rukpak.io/stage': '5' }),
  aChecked('ConfigMap', 'cm'),
];
const content = { objects: pending.map(({ desired }) => desired), pending, waits: false };

function names(foundationOnly: boolean): string[][] {
  return stagesToRun({ foundationOnly }, content).map((stage) =>
    stage.pending.map(({ desired }) => desired.key.name),
  );
}

test('before hooks there are namespaces and CRDs, without those that have a stage of their own', () => {
  expect(names(true)).toEqual([['ns', 'crd']]);
});

test('then there is everything, stage after stage', () => {
  expect(names(false)).toEqual([['ns', 'crd'], ['cm'], ['late']]);
});
