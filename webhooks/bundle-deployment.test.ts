import { expect, test, vi } from 'vitest';
import { bundleDeploymentValidator, type DeploymentCheck } from './bundle-deployment.ts';
import type { AdmissionRequest } from './review.ts';

const { signal } = new AbortController();
const user = { username: 'jane' };
const check = vi.fn<DeploymentCheck>(() => 'not like this');
const order = vi.fn<DeploymentCheck>(() => 'not by you');
const validate = bundleDeploymentValidator({ spec: [() => undefined, check], orders: [order] });

function aDeployment(spec: object, metadata: object = { name: 'd' }): object {
  return { metadata, spec: { provisionerClassName: 'c', ...spec } };
}

async function judge(request: Partial<AdmissionRequest>) {
  check.mockClear();
  order.mockClear();
  return await validate({ uid: '1', operation: 'CREATE', userInfo: user, ...request }, signal);
}

test('the first check with a sentence refuses, and knows user, old and new', async () => {
  const object = aDeployment({ dependsOn: [{ name: 'b' }] });
  const oldObject = aDeployment({});
  expect(await judge({ object })).toEqual({
    allowed: false,
    status: { code: 403, reason: 'not like this' },
  });
  expect(check).toHaveBeenCalledWith(
    expect.objectContaining({ deployment: object, old: undefined, user }),
    signal,
  );
  expect(await judge({ operation: 'UPDATE', object, oldObject })).toMatchObject({ allowed: false });
  expect(check).toHaveBeenCalledWith(expect.objectContaining({ old: oldObject }), signal);
});

test('changes of metadata and status are nobody’s business, nor is a deletion', async () => {
  const oldObject = aDeployment({ config: { a: 1 } });
  const object = aDeployment({ config: { a: 1 } }, { name: 'd', finalizers: [] });
  const status = { subResource: 'status', object: aDeployment({}), oldObject };
  for (const request of [{ object, oldObject }, status]) {
    expect(await judge({ operation: 'UPDATE', ...request })).toEqual({ allowed: true });
  }
  expect(await judge({ operation: 'DELETE', oldObject })).toEqual({ allowed: true });
  expect(check).not.toHaveBeenCalled();
});

test.each(['adopt', 'hand-over', 'skip-hooks', 'approve', 'confirm-prune', 'install-namespace'])(
  'what annotation core.rukpak.io/%s asks for is asked about, and nothing else of it',
  async (name) => {
    const oldObject = aDeployment({});
    const annotations = { [`core.rukpak.io/${name}`]: 'x' };
    const object = aDeployment({}, { name: 'd', annotations });
    for (const change of [
      { object, oldObject },
      { object: oldObject, oldObject: object },
    ]) {
      expect(await judge({ operation: 'UPDATE', ...change })).toMatchObject({
        status: { reason: 'not by you' },
      });
    }
    expect(check).not.toHaveBeenCalled();
  },
);

test('annotations of others, and who has changed it, ask core for nothing', async () => {
  const annotations = { 'core.rukpak.io/changed-by': 'x', 'example.com/a': 'x' };
  const object = aDeployment({}, { name: 'd', annotations });
  const change = { object, oldObject: aDeployment({}) };
  expect(await judge({ operation: 'UPDATE', ...change })).toEqual({ allowed: true });
  expect(order).not.toHaveBeenCalled();
});

test('a change anywhere in the spec is looked at', async () => {
  const request = { object: aDeployment({ config: { a: 2 } }), oldObject: aDeployment({}) };
  expect(await judge({ operation: 'UPDATE', ...request })).toMatchObject({ allowed: false });
});

test('what cannot be read is refused with the path', async () => {
  const object = aDeployment({ serviceAccount: { name: 'x', namespace: 'a:b' } });
  expect(await judge({ object })).toMatchObject({
    allowed: false,
    status: {
      code: 400,
      message: expect.stringContaining(
        'failed to decode BundleDeployment: request.object.spec.serviceAccount.namespace',
      ),
    },
  });
});
