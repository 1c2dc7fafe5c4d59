import { once } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeRegistry } from '../../../test/helpers/fake-registry.ts';
import { systemClock } from '../../platform/clock.ts';
import {
  DeniedError,
  emptyKeychain,
  type ImageVerifier,
  parseImageReference,
  type RefusedRequest,
  RegistryAccess,
  UnavailableError,
} from '../index.ts';

const { signal } = new AbortController();
let registry: FakeRegistry;

beforeEach(async () => {
  registry = await FakeRegistry.start();
});

afterEach(() => registry.stop());

function accessWith(verifier: ImageVerifier): RegistryAccess {
  return new RegistryAccess({
    insecureRegistries: [registry.host],
    caCertificates: [],
    keychain: emptyKeychain,
    clock: systemClock,
    verifier,
  });
}

test('an image that the policy refuses is not opened, and one that it accepts is', async () => {
  const { digest } = await registry.addImage('v1', [{ files: { a: '' } }]);
  const seen: unknown[] = [];
  const accepting = accessWith({
    verify: async ({ repository, digest: verified }) => {
      seen.push({ repository, digest: verified });
    },
  });
  const { manifest } = await accepting.open(`${registry.host}/app:v1`, signal);
  expect(manifest.digest).toBe(digest);
  expect(seen).toEqual([{ repository: `${registry.host}/app`, digest }]);
  const refusing = accessWith({
    verify: async () => {
      throw new Error('nobody signed it');
    },
  });
  await expect(refusing.open(`${registry.host}/app:v1`, signal)).rejects.toThrow(
    'nobody signed it',
  );
});

const reference = (text: string) => parseImageReference(`${registry.host}/${text}`);

test('the digest of a tag costs one HEAD', async () => {
  const { digest } = await registry.addImage('v1', [{ files: { a: '' } }]);
  const access = accessWith({ verify: async () => undefined });
  expect(await access.digest(reference('app:v1'), signal)).toBe(digest);
  expect(registry.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'HEAD /v2/app/manifests/v1',
  ]);
});

test('a tag that does not exist is an error whose cause is the request', async () => {
  const access = accessWith({ verify: async () => undefined });
  const error = (await access
    .digest(reference('app:v2'), signal)
    .catch((e: unknown) => e)) as Error;
  expect(error).toBeInstanceOf(UnavailableError);
  expect((error.cause as RefusedRequest).message).toBe(
    `HEAD http://${registry.host}/v2/app/manifests/v2: unexpected status code 404 Not Found (HEAD responses have no body, use GET for details)`,
  );
});

test('another identity has credentials of its own', async () => {
  const { digest } = await registry.addImage('v1', [{ files: { a: '' } }]);
  const basic = `Basic ${Buffer.from('me:secret').toString('base64')}`;
  registry.intercept = (request, response) => {
    if (request.headers.authorization === basic) return false;
    response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
    return true;
  };
  const access = accessWith({ verify: async () => undefined });
  const denied = await access.digest(reference('app:v1'), signal).catch((e: unknown) => e);
  expect(denied).toBeInstanceOf(DeniedError);
  expect(((denied as Error).cause as Error).message).toContain('401 Unauthorized (HEAD responses');
  const credentialsFor = () => [{ username: 'me', password: 'secret' }];
  const mine = access.as({ keychain: { credentialsFor }, credentialsName: 'pull secret "x"' });
  expect(await mine.digest(reference('app:v1'), signal)).toBe(digest);
});

// Otherwise it ends after the idle timeout of 30 s.
test('an answer with another range than asked for is refused, and its connection is closed', {
  timeout: 25_000,
}, async () => {
  await registry.addImage('v1', [{ files: { a: '' } }]);
  const blob = registry.addBlob(Buffer.alloc(300_000), 'application/octet-stream');
  registry.breaks = 1;
  let closed: Promise<unknown> | undefined;
  registry.intercept = (request, response) => {
    if (request.headers.range === undefined) return false;
    closed = once(response, 'close');
    const range = 'bytes 7-299999/300000';
    response.writeHead(206, { 'content-range': range, 'content-length': 299_993 }).write('x');
    return true;
  };
  const access = accessWith({ verify: async () => undefined });
  const { place } = await access.open(`${registry.host}/app:v1`, signal);
  await expect(place.blob(blob, signal).verify()).rejects.toThrow(
    'registry answered with another range than it was asked for',
  );
  await closed;
});
