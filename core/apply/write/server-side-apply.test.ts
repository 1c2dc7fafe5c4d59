import { expect, test, vi } from 'vitest';
import { aDesiredObject } from '../../../test/helpers/desired-objects.ts';
import { EventList } from '../../../test/helpers/event-list.ts';
import { anObject } from '../../../test/helpers/registry-bundle.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import type { Clock } from '../../platform/clock.ts';
import { ApiError, type KubeClient } from '../../platform/kube/index.ts';
import type { OpenAPIDocuments } from '../kinds/openapi-documents.ts';
import { ServerSideApply } from './server-side-apply.ts';

const notServed = new ApiError(404, {
  message: 'the server could not find the requested resource',
});
const desired = aDesiredObject(anObject('ConfigMap'));

function applying(apply: KubeClient['apply']) {
  const sleep = vi.fn<Clock['sleep']>(async () => undefined);
  const engine = new ServerSideApply({
    documents: {} as OpenAPIDocuments,
    events: new EventList(),
    clock: { now: () => 0, monotonic: () => 0, sleep },
  });
  const { signal } = new AbortController();
  const request = { client: { apply }, owner: aStoredDeployment(), createOnly: false };
  return { sleep, applied: engine.apply({ ...request, desired, signal }) };
}

test('a kind that is established and not served yet is asked for again', async () => {
  const apply = vi.fn<KubeClient['apply']>(async () => desired.object);
  apply.mockRejectedValueOnce(notServed).mockRejectedValueOnce(notServed);
  const { applied, sleep } = applying(apply);
  expect(await applied).toBe(desired.object);
  expect(apply).toHaveBeenCalledTimes(3);
  expect(sleep.mock.calls.map(([milliseconds]) => milliseconds)).toEqual([200, 200]);
});

test('one that is never served is an error after two seconds', async () => {
  const apply = vi.fn<KubeClient['apply']>(async () => {
    throw notServed;
  });
  const { applied, sleep } = applying(apply);
  await expect(applied).rejects.toBe(notServed);
  expect(sleep).toHaveBeenCalledTimes(10);
});

test('another refusal is final', async () => {
  const refused = new ApiError(404, { message: 'namespaces "gone" not found' });
  const apply = vi.fn<KubeClient['apply']>(async () => {
    throw refused;
  });
  const { applied } = applying(apply);
  await expect(applied).rejects.toBe(refused);
  expect(apply).toHaveBeenCalledTimes(1);
});
