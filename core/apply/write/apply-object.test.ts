import { expect, test, vi } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { aDesiredObject } from '../../../test/helpers/desired-objects.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { ApiError } from '../../platform/kube/index.ts';
import { fieldTree } from '../fields/field-tree.ts';
import { applyLeaving, applyReplacing } from './apply-object.ts';
import type { ServerSideApply, ServerSideApplyRequest } from './server-side-apply.ts';

const content: KubernetesObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'c', namespace: 'n' },
  data: { theirs: 'bundle', ours: 'bundle' },
};

interface Given {
  /** The result of each read. */
  readonly live: readonly (KubernetesObject | undefined)[];
  readonly conflicts?: number;
  readonly createOnly?: boolean;
}

async function applied({ live, conflicts = 0, createOnly = false }: Given) {
  const sent: ServerSideApplyRequest[] = [];
  const reads = [...live];
  const apply = {
    apply: async (request: ServerSideApplyRequest) => {
      sent.push(request);
      if (sent.length <= conflicts) throw new ApiError(409, { reason: 'Conflict' });
      return request.desired.object;
    },
  } as unknown as ServerSideApply;
  const get = async (): Promise<KubernetesObject> => {
    const found = reads.length > 1 ? reads.shift() : reads[0];
    if (found === undefined) throw new ApiError(404, { reason: 'NotFound' });
    return found;
  };
  const desired = aDesiredObject(content);
  const tree = fieldTree(['/data/theirs'], desired.object);
  const outcome = applyLeaving(apply, {
    client: { get, apply: async (_resource, object) => object },
    owner: aStoredDeployment(),
    desired: { ...desired, ignored: { key: 'k', tree } },
    createOnly,
    signal: AbortSignal.timeout(120_000),
  });
  const error = await outcome.then(() => undefined).catch((cause: unknown) => cause);
  return { sent, error };
}

function aLive(theirs: string, resourceVersion: string): KubernetesObject {
  const fieldsV1 = { 'f:data': { 'f:theirs': {}, 'f:ours': {} } };
  const managedFields = [{ manager: 'rukpak-core', operation: 'Apply', fieldsV1 }];
  const metadata = { ...content.metadata, resourceVersion, managedFields };
  return { ...content, metadata, data: { theirs, ours: 'bundle' } };
}

test('what is created has everything, and nothing is read for it', async () => {
  const { sent } = await applied({ live: [], createOnly: true });
  expect(sent[0]?.desired.object['data']).toEqual({ theirs: 'bundle', ours: 'bundle' });
});

test('what exists keeps the value, of exactly the version that was read', async () => {
  const { sent } = await applied({ live: [aLive('live', '7')] });
  expect(sent[0]?.desired.object).toMatchObject({
    metadata: { resourceVersion: '7' },
    data: { theirs: 'live', ours: 'bundle' },
  });
});

test('who writes it meanwhile is not overwritten', async () => {
  const { sent } = await applied({ live: [aLive('old', '7'), aLive('new', '8')], conflicts: 1 });
  expect(sent.map(({ desired }) => desired.object['data'])).toMatchObject([
    { theirs: 'old' },
    { theirs: 'new' },
  ]);
});

test('what was deleted meanwhile is created', async () => {
  const { sent } = await applied({ live: [aLive('old', '7'), undefined], conflicts: 1 });
  expect(sent[1]).toMatchObject({
    createOnly: true,
    desired: { object: { data: { theirs: 'bundle' } } },
  });
});

test('it gives up where somebody else is quicker each time', async () => {
  const { sent, error } = await applied({ live: [aLive('a', '7')], conflicts: 9 });
  expect(sent).toHaveLength(5);
  expect(error).toBeInstanceOf(ApiError);
});

/** The number of patches of a Service with UID u1 whose list of ports the server refuses. */
async function patchesOf(judged: string): Promise<number> {
  const ports = [{ name: 'http', port: 80 }];
  const spec = { ports: [...ports, { port: 8080, protocol: 'TCP' }] };
  const metadata = { name: 's', namespace: 'n' };
  const service = { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports } };
  const fieldsV1 = {
    'f:spec': { 'f:ports': { 'k:{"port":8080,"protocol":"TCP"}': { '.': {}, 'f:port': {} } } },
  };
  const own = { manager: 'rukpak-core', operation: 'Apply', fieldsV1: {} };
  const managedFields = [own, { manager: 'kubectl-edit', operation: 'Update', fieldsV1 }];
  const live = { ...service, spec, metadata: { ...metadata, uid: 'u1', managedFields } };
  const patch = vi.fn(async () => live);
  const details = { causes: [{ field: 'spec.ports[1].name', message: 'Required value' }] };
  const apply = {
    apply: async () => await Promise.reject(new ApiError(422, { reason: 'Invalid', details })),
  } as unknown as ServerSideApply;
  const outcome = applyReplacing(apply, {
    client: { get: async () => live, apply: async (_resource, object) => object, patch },
    owner: aStoredDeployment(),
    desired: aDesiredObject(service),
    createOnly: false,
    uid: judged,
    onReplaced: () => undefined,
    signal: AbortSignal.timeout(120_000),
  });
  await expect(outcome).rejects.toThrow(ApiError);
  return patch.mock.calls.length;
}

test('items of others are removed from a list that the server refuses, after a dry run', async () => {
  expect(await patchesOf('u1')).toBe(2);
});

test('items of an object that somebody has made anew are not', async () => {
  expect(await patchesOf('u0')).toBe(0);
});
