import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ask, ContentServerFixture } from '../../test/helpers/content-server-fixture.ts';
import { createPlanHandler, type ServedPlans } from './plan-handler.ts';

const read = vi.fn<ServedPlans['read']>();
const path = '/bundledeployments/shop/plan';

let fixture: ContentServerFixture;
let server: string;

beforeEach(async () => {
  fixture = await ContentServerFixture.create();
  server = await fixture.start({ handlers: [createPlanHandler({ read })] });
  read.mockReset().mockResolvedValue(Buffer.from('{"digest":"d"}'));
});

afterEach(async () => await fixture.remove());

describe('a plan', () => {
  test('is for those who may get the BundleDeployment', async () => {
    expect(await ask(server + path)).toMatchObject({
      status: 200,
      text: '{"digest":"d"}',
      headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
    });
    expect(read).toHaveBeenCalledWith('shop', expect.anything());
    expect(fixture.asked).toEqual([
      { verb: 'get', group: 'core.rukpak.io', resource: 'bundledeployments', name: 'shop' },
    ]);
  });

  test('is refused to users without permission on the BundleDeployment', async () => {
    expect(await ask(server + path, { token: 'guest' })).toMatchObject({
      status: 403,
      text: 'Forbidden (user=guest, verb=get, resource=bundledeployments, subresource=)\n',
    });
    expect(await ask(server + path, { token: '' })).toMatchObject({ status: 401 });
    expect(read).not.toHaveBeenCalled();
  });

  test('that there is not is not found', async () => {
    read.mockResolvedValue(undefined);
    expect(await ask(server + path)).toMatchObject({
      status: 404,
      text: 'there is no plan of BundleDeployment "shop"\n',
    });
  });

  test('can only be read', async () => {
    const { status, headers } = await ask(server + path, { method: 'PUT' });
    expect({ status, allow: headers['allow'] }).toEqual({ status: 405, allow: 'GET, HEAD' });
    expect(fixture.asked).toMatchObject([{ verb: 'update', name: 'shop' }]);
  });
});

test.each([
  '/bundledeployments/a%2Fb/plan',
  '/bundledeployments/../plan',
  '/bundledeployments/shop/plan/',
])('%s is the plan of nothing', async (odd) => {
  expect(await ask(server + odd)).toMatchObject({ status: 404, text: '404 page not found\n' });
  expect(fixture.asked).toMatchObject([{ path: expect.any(String) }]);
  expect(read).not.toHaveBeenCalled();
});
