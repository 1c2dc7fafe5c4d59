import { expect, test } from 'vitest';
import { aDesiredObject } from '../../../test/helpers/desired-objects.ts';
import { ApiError } from '../../platform/kube/index.ts';
import type { CheckedObject } from '../objects/desired.ts';
import { tryDefinitions } from './definition-trial.ts';
import type { Stage } from './stages.ts';

const { signal } = new AbortController();

function changed(kind: string, name: string, more: Partial<CheckedObject> = {}): CheckedObject {
  const apiVersion = kind === 'CustomResourceDefinition' ? 'apiextensions.k8s.io/v1' : 'v1';
  const desired = aDesiredObject({ apiVersion, kind, metadata: { name } });
  const ownership = { dropControllers: false, takeOver: false, createOnly: false };
  return { desired, live: desired.object, repair: false, ...ownership, ...more };
}

const crd = (name: string, more?: Partial<CheckedObject>) =>
  changed('CustomResourceDefinition', name, more);

/** The names that are tried, and those that are refused with a code. */
async function tried(
  codes: Readonly<Record<string, number>>,
  ...stages: readonly (readonly CheckedObject[])[]
) {
  const asked: string[] = [];
  const client = {
    apply: async (_: unknown, object: { metadata: { name?: string } }, options: object) => {
      const { name = '' } = object.metadata;
      expect(options).toMatchObject({ dryRun: true, force: true });
      asked.push(name);
      const code = codes[name];
      if (code !== undefined) throw new ApiError(code, { message: `${name} is refused` });
      return object;
    },
  } as unknown as Parameters<typeof tryDefinitions>[1]['client'];
  const staged = stages.map((pending, number): Stage => ({ number, objects: [], pending }));
  const failures = await tryDefinitions(staged, { client, signal });
  return { asked, refused: failures.map(({ object, action }) => `${action} ${object.key.name}`) };
}

test('changed CRDs are tried, and each refused one is reported', async () => {
  const pending = [crd('a'), changed('ConfigMap', 'c'), crd('b'), crd('d')];
  expect(await tried({ b: 403, d: 422 }, pending)).toEqual({
    asked: ['a', 'b', 'd'],
    refused: ['patch b', 'patch d'],
  });
});

test('the only CRD that is written before everything else needs no trial', async () => {
  const config = changed('ConfigMap', 'c');
  expect((await tried({}, [], [crd('a'), config], [config])).asked).toEqual([]);
  expect((await tried({}, [crd('a'), changed('Namespace', 'n')])).asked).toEqual(['a']);
  expect((await tried({}, [config], [crd('a')])).asked).toEqual(['a']);
});

test.each<[string, CheckedObject]>([
  ['new', crd('b', { live: undefined })],
  ['repaired', crd('b', { repair: true })],
  ['taken over', crd('b', { takeOver: true })],
  ['of two controllers', crd('b', { dropControllers: true })],
])('a CRD that is %s is not tried', async (_, other) => {
  expect((await tried({}, [crd('a'), other])).asked).toEqual(['a']);
});

test('a failure that is no refusal is left to the write', async () => {
  expect((await tried({ a: 500, b: 400 }, [crd('a'), crd('b')])).refused).toEqual([]);
});
