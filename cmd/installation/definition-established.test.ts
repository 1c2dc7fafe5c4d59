import { afterEach, expect, it, vi } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import type { Resource } from '../../core/platform/kube/index.ts';
import { definitionEstablished } from './install.ts';

afterEach(() => {
  vi.useRealTimers();
});

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

/** An API server that establishes a CRD after some time; each read of the CRD takes ten seconds. */
function aBusyServer(seconds: number): () => Promise<KubernetesObject> {
  vi.useFakeTimers({ toFake: ['Date'] });
  const end = Date.now() + seconds * 1000;
  return async () => {
    vi.setSystemTime(Date.now() + 10_000);
    const conditions = [{ type: 'Established', status: Date.now() < end ? 'False' : 'True' }];
    const kind = 'CustomResourceDefinition';
    return { apiVersion: 'v1', kind, metadata: {}, status: { conditions } };
  };
}

it('waits as long as an API server takes that has much to do', { tags: ['slow'] }, async () => {
  await definitionEstablished({ get: aBusyServer(120) }, {} as Resource, 'x');
});

it('gives up in the end, and says what to look at', { tags: ['slow'] }, async () => {
  const get = aBusyServer(Number.POSITIVE_INFINITY);
  await expect(definitionEstablished({ get }, {} as Resource, 'x')).rejects.toThrow(
    'customresourcedefinition.apiextensions.k8s.io/x is not established after 180 s: see its conditions',
  );
});
