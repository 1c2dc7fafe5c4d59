import { describe, expect, test, vi } from 'vitest';
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
const desired = aDesiredObject({ ...anObject('ConfigMap'), data: { a: '1' } });

/** The API server declares the fields of the schema. */
function applying(apply: KubeClient['apply'], properties: object = {}) {
  const sleep = vi.fn<Clock['sleep']>(async () => undefined);
  const events = new EventList();
  const schemaOf = async () => ({ schema: { properties }, components: {} });
  const engine = new ServerSideApply({
    documents: { schemaOf } as Pick<OpenAPIDocuments, 'schemaOf'> as OpenAPIDocuments,
    events,
    clock: { now: () => 0, monotonic: () => 0, sleep },
  });
  const { signal } = new AbortController();
  const request = { client: { apply }, owner: aStoredDeployment(), createOnly: false };
  return { sleep, events, applied: engine.apply({ ...request, desired, signal }) };
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

describe('a field that the API server does not declare', () => {
  const undeclared = new ApiError(500, { message: '.data: field not declared in schema' });

  test('and its CRD does is waited for: the API server knows a changed CRD later', async () => {
    const apply = vi.fn<KubeClient['apply']>(async () => desired.object);
    apply.mockRejectedValueOnce(undeclared).mockRejectedValueOnce(undeclared);
    const { applied, sleep, events } = applying(apply, { data: {} });
    await applied;
    for (const [, sent] of apply.mock.calls) expect(sent).toEqual(desired.object);
    expect(sleep).toHaveBeenCalledTimes(1);
    expect(events.taken()).toEqual([]);
  });

  test('nor its CRD is left out, with a Warning', async () => {
    const apply = vi.fn<KubeClient['apply']>(async () => desired.object);
    apply.mockRejectedValueOnce(undeclared);
    const { applied, events } = applying(apply, { spec: {} });
    await applied;
    expect(apply.mock.lastCall?.[1]).not.toHaveProperty('data');
    expect(events.taken()).toEqual([expect.stringContaining('data')]);
  });

  test('is an error after two seconds', async () => {
    const apply = vi.fn<KubeClient['apply']>(async () => {
      throw undeclared;
    });
    const { applied, sleep } = applying(apply, { data: {} });
    await expect(applied).rejects.toBe(undeclared);
    expect(sleep).toHaveBeenCalledTimes(10);
  });
});
