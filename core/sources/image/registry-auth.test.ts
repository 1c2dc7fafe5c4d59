import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeRegistry } from '../../../test/helpers/fake-registry.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { defaultLimits } from '../../content/index.ts';
import { TerminalError, WaitingError } from '../../errors.ts';
import type { Credentials } from '../../registry/index.ts';
import { ImagePuller } from './image-puller.ts';

let registry: FakeRegistry;
let tokenServer: FakeRegistry;
let clock: ManualClock;
let puller: ImagePuller;
let tokens: string[];
/** What the token server does; by default it gives out token-1, token-2 and so on. */
let answerToken: (request: IncomingMessage, response: ServerResponse) => void;

const alice = { username: 'alice', password: 'wonderland' };
const basic = `Basic ${Buffer.from('alice:wonderland').toString('base64')}`;

beforeEach(async () => {
  registry = await FakeRegistry.start();
  tokenServer = await FakeRegistry.start();
  clock = new ManualClock();
  puller = new ImagePuller({ insecureRegistries: [registry.host, tokenServer.host], clock });
  tokens = [];
  answerToken = (_, response) => {
    tokens.push(`token-${tokens.length + 1}`);
    response.end(JSON.stringify({ token: tokens.at(-1), expires_in: 300 }));
  };
  tokenServer.intercept = (request, response) => {
    answerToken(request, response);
    return true;
  };
  await registry.addImage('v1', [{ files: { a: '' } }]);
});

afterEach(async () => {
  await registry.stop();
  await tokenServer.stop();
});

/** Takes one of the last tokens only. */
function requireToken(accepted: () => readonly string[] = () => tokens): void {
  registry.intercept = ({ headers }, response) => {
    if (accepted().some((token) => headers.authorization === `Bearer ${token}`)) return false;
    const challenge = `Bearer realm="http://${tokenServer.host}/token",service="the registry"`;
    response.writeHead(401, { 'www-authenticate': challenge }).end();
    return true;
  };
}

function requireBasic(): void {
  registry.intercept = ({ headers }, response) => {
    if (headers.authorization === basic) return false;
    response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
    return true;
  };
}

async function pull(...credentials: Credentials[]): Promise<string[]> {
  const keychain = { credentialsFor: () => credentials };
  const signal = AbortSignal.timeout(120_000);
  const options = { keychain, limits: defaultLimits, signal };
  const { files } = await puller.pull(`${registry.host}/org/app:v1`, options);
  return [...files.files.keys()];
}

async function denied(...credentials: Credentials[]): Promise<string> {
  const error: unknown = await pull(...credentials).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(Error);
  expect(error).not.toBeInstanceOf(WaitingError);
  expect(error).not.toBeInstanceOf(TerminalError);
  return (error as Error).message;
}

describe('basic authentication', () => {
  beforeEach(requireBasic);

  it('is used when asked for', async () => {
    expect(await pull(alice)).toEqual(['a']);
    expect(registry.requests[0]?.headers.authorization).toBeUndefined();
    expect(registry.requests.slice(1).every(({ headers }) => headers.authorization === basic)).toBe(
      true,
    );
  });

  it('without or with wrong credentials is denied', async () => {
    const { host } = registry;
    expect(await denied()).toBe(
      `error fetching image descriptor: registry ${host} denies access to repository org/app without credentials (401 Unauthorized)`,
    );
    expect(await denied({ username: 'alice', password: 'secret' })).toBe(
      `error fetching image descriptor: registry ${host} denies access to repository org/app with the pull secret (401 Unauthorized)`,
    );
  });

  it('goes through all credentials that may fit', async () => {
    expect(await pull({ username: 'bob', password: 'x' }, alice)).toEqual(['a']);
  });
});

it('says so when access is forbidden', async () => {
  registry.intercept = (_, response) => {
    response.writeHead(403).end();
    return true;
  };
  expect(await denied(alice)).toContain('denies access to repository org/app');
});

describe('token authentication', () => {
  it('asks for a token to pull, anonymously where there are no credentials', async () => {
    requireToken();
    expect(await pull()).toEqual(['a']);
    const [request] = tokenServer.requests;
    expect(request?.headers.authorization).toBeUndefined();
    const { searchParams } = new URL(request?.path ?? '', 'http://x');
    expect(Object.fromEntries(searchParams)).toEqual({
      scope: 'repository:org/app:pull',
      service: 'the registry',
    });
  });

  it('proves who asks, to the token server alone', async () => {
    requireToken();
    expect(await pull(alice)).toEqual(['a']);
    expect(tokenServer.requests[0]?.headers.authorization).toBe(basic);
    expect(tokenServer.requests[0]?.path).toContain('account=alice');
    expect(registry.requests.some(({ headers }) => headers.authorization === basic)).toBe(false);
  });

  it('keeps a token until it expires, for the same credentials', async () => {
    requireToken();
    await pull(alice);
    await pull(alice);
    expect(tokens).toHaveLength(1);
    await pull();
    expect(tokens).toHaveLength(2);
    clock.advance(295_000);
    await pull(alice);
    expect(tokens).toHaveLength(3);
  });

  it('gets another token where the one it has is not taken any more', async () => {
    requireToken(() => tokens.slice(-1));
    await pull(alice);
    answerToken({} as IncomingMessage, { end: () => undefined } as unknown as ServerResponse);
    expect(await pull(alice)).toEqual(['a']);
    expect(tokens).toHaveLength(3);
  });

  it('gets another token where the one it has is not taken any more in the middle of a pull', async () => {
    const challenge = `Bearer realm="http://${tokenServer.host}/token"`;
    registry.intercept = ({ headers, url }, response) => {
      const wanted = url?.includes('/blobs/') === true ? 'token-2' : 'token-1';
      if (headers.authorization === `Bearer ${wanted}`) return false;
      response.writeHead(401, { 'www-authenticate': challenge }).end();
      return true;
    };
    expect(await pull(alice)).toEqual(['a']);
    expect(tokens).toHaveLength(2);
    expect(registry.requests).toHaveLength(4);
  });

  it('is denied where no token helps', async () => {
    requireToken(() => []);
    expect(await denied(alice)).toContain('denies access to repository org/app');
    expect(tokens).toHaveLength(2);
  });

  it('takes the scope of the challenge, and access_token for token', async () => {
    registry.intercept = ({ headers }, response) => {
      if (headers.authorization === 'Bearer other') return false;
      const challenge = `Bearer realm="http://${tokenServer.host}/t?x=y",scope="repository:org/app:pull,push"`;
      response.writeHead(401, { 'www-authenticate': challenge }).end();
      return true;
    };
    answerToken = (_, response) => void response.end('{"access_token":"other"}');
    expect(await pull()).toEqual(['a']);
    expect(tokenServer.requests[0]?.path).toBe('/t?x=y&scope=repository%3Aorg%2Fapp%3Apull%2Cpush');
  });

  it('hands in an identity token as OAuth2 has it', async () => {
    requireToken();
    expect(await pull({ username: '', password: '', identityToken: 'refresh' })).toEqual(['a']);
    const [request] = tokenServer.requests;
    expect(request).toMatchObject({ method: 'POST', path: '/token' });
    expect(request?.headers['content-type']).toBe('application/x-www-form-urlencoded');
  });

  it.each([301, 302, 303, 307, 308])(
    'hands an identity token to no host of a redirect (%d)',
    async (status) => {
      requireToken();
      const stranger = await FakeRegistry.start();
      const { host } = stranger;
      puller = new ImagePuller({
        insecureRegistries: [registry.host, tokenServer.host, host],
        clock,
      });
      answerToken = (_, response) => {
        response.writeHead(status, { location: `http://${host}/token` }).end();
      };
      try {
        expect(await denied({ username: '', password: '', identityToken: 'refresh' })).toBe(
          `error fetching image descriptor: server ${tokenServer.host} redirects credentials to ${host}, which gets none`,
        );
        expect(stranger.requests).toEqual([]);
      } finally {
        await stranger.stop();
      }
    },
  );

  it('hands an identity token to another path of the same server', async () => {
    requireToken();
    answerToken = ({ url }, response) => {
      if (url === '/token') response.writeHead(307, { location: '/v2/token' }).end();
      else response.end(JSON.stringify({ token: tokens[tokens.push('moved') - 1] }));
    };
    expect(await pull({ username: '', password: '', identityToken: 'refresh' })).toEqual(['a']);
    expect(tokenServer.requests.map(({ path }) => path)).toEqual(['/token', '/v2/token']);
  });

  it.each([
    [401, '', 'answered 401 Unauthorized'],
    [403, '', 'answered 403 Forbidden'],
    [404, '', 'answered 404 Not Found'],
    [200, '<html>', 'answered with something that is no token'],
    [200, '{}', 'answered without a token'],
    [200, '{"token":"a\\r\\nb: c"}', 'answered without a token'],
    [200, 'x'.repeat(2_000_000), 'answered with something that is no token'],
  ])('is denied where the token server answers %d %.20s', async (status, body, words) => {
    requireToken();
    answerToken = (_, response) => void response.writeHead(status).end(body);
    expect(await denied(alice)).toBe(
      `error fetching image descriptor: token server ${tokenServer.host} ${words}`,
    );
  });

  it('waits where the token server is not there, or is not to be spoken to', async () => {
    requireToken();
    const { host } = tokenServer;
    await tokenServer.stop();
    const unlisted = new ImagePuller({ insecureRegistries: [registry.host], clock });
    for (const [each, words] of [
      [puller, `registry ${host}: connection refused`],
      [unlisted, `registry sends us to http://${host}, which is not listed`],
    ] as const) {
      puller = each;
      tokens = [];
      registry.intercept = (_, response) => {
        const challenge = `Bearer realm="http://${host}/token"`;
        response.writeHead(401, { 'www-authenticate': challenge }).end();
        return true;
      };
      const error: unknown = await pull(alice).catch((e: unknown) => e);
      expect(error).toBeInstanceOf(WaitingError);
      expect((error as Error).message).toContain(words);
    }
    tokenServer = await FakeRegistry.start();
  });

  it.each(['Bearer', 'Bearer realm="no url"', 'Negotiate', ''])(
    'is denied by a challenge of %j',
    async (challenge) => {
      registry.intercept = (_, response) => {
        response.writeHead(401, { 'www-authenticate': challenge }).end();
        return true;
      };
      expect(await denied(alice)).toMatch(/denies access|without saying where to get one/);
    },
  );

  it('does not answer the challenge of a host that it was redirected to', async () => {
    registry.intercept = (_, response) => {
      response.writeHead(307, { location: `http://${tokenServer.host}/elsewhere` }).end();
      return true;
    };
    answerToken = (_, response) => {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="give"' }).end();
    };
    expect(await denied(alice)).toContain('denies access');
    expect(tokenServer.requests.every(({ headers }) => headers.authorization === undefined)).toBe(
      true,
    );
  });
});

it('does not share a download between different credentials', async () => {
  requireToken();
  await Promise.all([pull(alice), pull()]);
  const blobs = registry.requests.filter(({ path }) => path.includes('/blobs/'));
  expect(blobs).toHaveLength(2);
});

it.each(['http://x', 'a/b', 'user@x', ''])('refuses %j as an insecure registry', (host) => {
  expect(() => new ImagePuller({ insecureRegistries: [host], clock })).toThrow(
    `insecure registry "${host}" is not a host with an optional port`,
  );
});
