import { expect, it } from 'vitest';
import type { KubernetesObject } from '../api/meta.ts';
import type { Resource } from '../core/kube/resource.ts';
import { definitionEstablished } from './definition-established.ts';

it('waits from the first moment on, when a CRD has no conditions yet', async () => {
  const states = [undefined, null, [], [{ type: 'Established', status: 'False' }]];
  const established = [{ type: 'Established', status: 'True' }];
  let count = 0;
  const get = async (): Promise<KubernetesObject> => {
    const conditions = count < states.length ? states[count] : established;
    count += 1;
    const status = conditions === undefined ? {} : { status: { conditions } };
    return { apiVersion: 'v1', kind: 'CustomResourceDefinition', metadata: {}, ...status };
  };
  await definitionEstablished({ get }, {} as Resource, 'x');
  expect(count).toBe(states.length + 1);
});
