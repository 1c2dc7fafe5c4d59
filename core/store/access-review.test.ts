import { describe, expect, it } from 'vitest';
import type { RawRequest } from '../platform/kube/kube-client.ts';
import { apiServerAccessReviewer } from './access-review.ts';

const { signal } = new AbortController();
const request = { verb: 'get', path: '/bundles/a.tgz' };
const user = {
  username: 'system:serviceaccount:ns:reader',
  uid: '42',
  groups: ['system:serviceaccounts'],
  extra: { 'authentication.kubernetes.io/pod-name': ['p'] },
};

function apiServer(...answers: unknown[]) {
  return apiServerFor([], answers);
}

function apiServerFor(audiences: readonly string[], answers: readonly unknown[]) {
  const sent: RawRequest[] = [];
  const request = async (request: RawRequest): Promise<unknown> => {
    sent.push(request);
    return { status: answers[sent.length - 1] };
  };
  return { sent, reviewer: apiServerAccessReviewer({ request }, audiences) };
}

describe('apiServerAccessReviewer', () => {
  it('asks who the token is, then whether they may', async () => {
    const { sent, reviewer } = apiServer({ authenticated: true, user }, { allowed: true });
    expect(await reviewer.review({ token: 'secret' }, request, signal)).toEqual({
      authenticated: true,
      user: user.username,
      allowed: true,
    });
    expect(sent.map(({ path, body }) => [path, (body as { spec: unknown }).spec])).toEqual([
      ['/apis/authentication.k8s.io/v1/tokenreviews', { token: 'secret' }],
      [
        '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        {
          user: user.username,
          uid: '42',
          groups: user.groups,
          extra: user.extra,
          nonResourceAttributes: request,
        },
      ],
    ]);
  });

  it('asks for an object of the cluster as such', async () => {
    const { sent, reviewer } = apiServer({ authenticated: true, user }, { allowed: true });
    const access = {
      verb: 'get',
      group: 'core.rukpak.io',
      resource: 'bundledeployments',
      name: 'a',
    };
    await reviewer.review({ token: 'secret' }, access, signal);
    const { spec } = (sent[1]?.body ?? {}) as { spec?: object };
    expect(spec).toMatchObject({ resourceAttributes: access });
    expect(spec).not.toHaveProperty('nonResourceAttributes');
  });

  it.each([{ allowed: false }, { allowed: false, denied: true }, { allowed: true, denied: true }])(
    'takes %j for a no',
    async (answer) => {
      const { reviewer } = apiServer({ authenticated: true, user }, answer);
      expect(await reviewer.review({ token: 't' }, request, signal)).toMatchObject({
        allowed: false,
      });
    },
  );

  it.each([{}, { authenticated: false }, { error: 'expired' }, { authenticated: true }])(
    'does not know the user of %j, and asks no further',
    async (answer) => {
      const { sent, reviewer } = apiServer(answer);
      expect(await reviewer.review({ token: 't' }, request, signal)).toEqual({
        authenticated: false,
      });
      expect(sent).toHaveLength(1);
    },
  );

  it('asks of a certified user only whether they may', async () => {
    const { sent, reviewer } = apiServer({ allowed: true });
    const caller = { user: { username: 'jane', groups: ['dev', 'system:authenticated'] } };
    expect(await reviewer.review(caller, request, signal)).toMatchObject({ user: 'jane' });
    expect(sent.map(({ body }) => (body as { spec: unknown }).spec)).toEqual([
      { user: 'jane', groups: caller.user.groups, nonResourceAttributes: request },
    ]);
  });

  it.each([
    [['content'], true],
    [['other', 'content'], true],
    [['https://kubernetes.default.svc'], false],
    [[], false],
    [undefined, false],
  ])('that demands an audience takes a token for %j: %s', async (audiences, taken) => {
    const status = { authenticated: true, user, ...(audiences && { audiences }) };
    const { sent, reviewer } = apiServerFor(['content', 'backup'], [status, { allowed: true }]);
    const review = await reviewer.review({ token: 't' }, request, signal);
    expect(review.authenticated).toBe(taken);
    expect(sent[0]?.body).toMatchObject({ spec: { audiences: ['content', 'backup'] } });
  });

  it('throws on answers that it does not understand', async () => {
    await expect(
      apiServer(undefined).reviewer.review({ token: 't' }, request, signal),
    ).rejects.toThrow();
    const { reviewer } = apiServer({ authenticated: true, user }, { allowed: 'yes' });
    await expect(reviewer.review({ token: 't' }, request, signal)).rejects.toThrow();
  });
});
