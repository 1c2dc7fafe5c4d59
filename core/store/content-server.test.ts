import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ask, ContentServerFixture } from '../../test/helpers/content-server-fixture.ts';

let fixture: ContentServerFixture;

beforeEach(async () => {
  fixture = await ContentServerFixture.create();
});

afterEach(async () => {
  await fixture.remove();
});

describe('authorization', () => {
  it.each([
    ['no token', '', 401, 'Unauthorized\n'],
    ['an unknown token', 'nobody', 401, 'Unauthorized\n'],
    [
      'a user without the right',
      'guest',
      403,
      'Forbidden (user=guest, verb=get, resource=, subresource=)\n',
    ],
    [
      'an API server that does not answer',
      'broken',
      503,
      'the API server could not be asked whether to allow this\n',
    ],
  ])('refuses %s, whatever the path', async (...[, token, status, text]) => {
    const server = await fixture.start({
      renderMetrics: async () => ({ contentType: 'x/y', body: 'secret' }),
    });
    for (const path of ['/bundles/my-bundle.tgz', '/bundles/unknown.tgz', '/metrics', '/']) {
      expect(await ask(server + path, { token })).toMatchObject({ status, text });
    }
  });

  it.each(['Basic cmVhZGVyOng=', 'Bearer', 'Bearer ', 'Bearer a b', 'reader'])(
    'takes %j for no token',
    async (authorization) => {
      const server = await fixture.start();
      const { status } = await ask(server, { token: '', headers: { authorization } });
      expect(status).toBe(401);
      expect(fixture.asked).toEqual([]);
    },
  );

  it.each([
    ['GET', 'get'],
    ['HEAD', 'get'],
    ['PUT', 'update'],
    ['POST', 'create'],
    ['PATCH', 'patch'],
    ['DELETE', 'delete'],
    ['OPTIONS', ''],
  ])('asks for %s with the verb "%s" on the decoded path', async (method, verb) => {
    await ask(`${await fixture.start()}/uploads/a%20b?x=y`, { method });
    expect(fixture.asked).toEqual([{ verb, path: '/uploads/a b' }]);
  });

  it('refuses a path that cannot be decoded', async () => {
    expect(await ask(`${await fixture.start()}/bundles/%ff`)).toMatchObject({ status: 400 });
  });

  it('asks the API server once for repeated requests', async () => {
    const server = await fixture.start();
    for (let i = 0; i < 12; i += 1) await ask(`${server}/bundles/my-bundle.tgz`);
    expect(fixture.asked).toHaveLength(1);
  });
});

describe('the listener', () => {
  it('logs every request, tokens never', async () => {
    const server = await fixture.start();
    await ask(`${server}/bundles/my-bundle.tgz`);
    await ask(`${server}/bundles/my-bundle.tgz`, { method: 'HEAD' });
    await ask(`${server}/bundles/unknown.tgz`, { token: 'nobody' });
    const url = '/bundles/my-bundle.tgz';
    expect(fixture.logged).toEqual([
      { message: 'responded', method: 'GET', status: 200, url, size: fixture.archive.length },
      { message: 'responded', method: 'HEAD', status: 200, url, size: 0 },
      {
        message: 'responded',
        method: 'GET',
        status: 401,
        url: '/bundles/unknown.tgz',
        size: 'Unauthorized\n'.length,
      },
    ]);
  });

  it('measures requests and what it sends', async () => {
    const server = await fixture.start();
    await ask(`${server}/bundles/my-bundle.tgz`);
    await ask(`${server}/bundles/my-bundle.tgz`, { headers: { range: 'bytes=0-9' } });
    await ask(`${server}/bundles/unknown.tgz`);
    await expect
      .poll(async () => (await fixture.metrics.render()).body.split('\n'))
      .toEqual(
        expect.arrayContaining([
          'rukpak_content_requests_total{method="GET",code="200"} 1',
          'rukpak_content_requests_total{method="GET",code="206"} 1',
          'rukpak_content_requests_total{method="GET",code="404"} 1',
          'rukpak_content_request_duration_seconds_count{method="GET"} 3',
          `rukpak_content_sent_bytes_total ${fixture.archive.length + 10}`,
        ]),
      );
  });

  it('serves metrics, and what else it is given', async () => {
    const server = await fixture.start({
      renderMetrics: async () => ({ contentType: 'text/plain; version=0.0.4', body: 'up 1\n' }),
      handlers: [
        (request, response, next) => {
          if (request.path === '/uploads/a.tgz') response.status(204).end();
          else next();
        },
      ],
    });
    const { text, headers } = await ask(`${server}/metrics`);
    expect(text).toBe('up 1\n');
    expect(headers['content-type']).toContain('version=0.0.4');
    expect((await ask(`${server}/uploads/a.tgz`)).status).toBe(204);
    expect((await ask(`${server}/uploads/a.tgz`, { token: 'guest' })).status).toBe(403);
    expect((await ask(`${server}/other`)).status).toBe(404);
  });

  it('answers 500 where a handler fails, without telling why', async () => {
    const server = await fixture.start({
      renderMetrics: () => Promise.reject(new Error('internal detail')),
    });
    const { status, text } = await ask(`${server}/metrics`);
    expect([status, text]).toEqual([500, 'Internal Server Error\n']);
  });

  it('refuses an address that is taken', async () => {
    const { hostname: host, port } = new URL(await fixture.start());
    await expect(fixture.start({ address: { host, port: Number(port) } })).rejects.toThrow(
      'EADDRINUSE',
    );
  });
});
