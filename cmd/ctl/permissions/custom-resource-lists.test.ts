import { expect, test } from 'vitest';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { customResourceLists } from './needed-rules.ts';

const definitions = ['gadgets.a.example.com'];
const deployment = aStoredDeployment();

const unguarded = { prune: { confirmData: false }, deletionPolicy: 'Delete' as const };

test.each([{}, { ...unguarded, prune: {} }, { ...unguarded, deletionPolicy: 'KeepCRDs' as const }])(
  'custom resources are looked for with %j',
  (policy) => {
    const asking = { ...deployment, spec: { ...deployment.spec, ...policy } };
    expect(customResourceLists(asking, definitions)).toEqual([
      { verb: 'list', group: 'a.example.com', resource: 'gadgets' },
    ]);
  },
);

test('nobody looks for them where the spec rules both out', () => {
  const asking = { ...deployment, spec: { ...deployment.spec, ...unguarded } };
  expect(customResourceLists(asking, definitions)).toEqual([]);
});
