import { expect, test } from 'vitest';
import { stringifyJson } from '../../core/sdk.ts';
import { aRegistryTree } from '../../test/helpers/registry-bundle.ts';
import { problemLine } from './problem.ts';
import { refusalsOf, validateBundle } from './validate-bundle.ts';

function aBundleWith(kind: string) {
  const object = { kind, metadata: { name: 'settings' } };
  return aRegistryTree(undefined, { 'manifests/x.yaml': stringifyJson(object) });
}

test('a kind whose version the class knows is installed without one, with a warning', () => {
  const files = aBundleWith('ConfigMap');
  const { installable, objects, problems } = validateBundle(files);
  expect({ installable, objects }).toEqual({ installable: true, objects: 2 });
  expect(problems.filter(({ check }) => check === undefined).map(problemLine)).toEqual([
    'warning: manifests/x.yaml:1: ConfigMap "settings" has no apiVersion, and core reads it as v1; add "apiVersion: v1"',
  ]);
  expect(refusalsOf(files, {}, 2)).toEqual([]);
});

test('any other kind is refused without one', () => {
  const { installable, problems } = validateBundle(aBundleWith('ServiceMonitor'));
  expect(installable).toBe(false);
  expect(problems.map(problemLine)).toContainEqual(
    expect.stringMatching(/^error: manifests\/x\.yaml:1: ServiceMonitor "settings" has no apiVer/),
  );
});
