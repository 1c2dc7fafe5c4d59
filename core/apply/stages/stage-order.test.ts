import { describe, expect, test } from 'vitest';
import { aDesiredObject } from '../../../test/helpers/desired-objects.ts';
import { checkStageOrder } from './stage-order.ts';

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
