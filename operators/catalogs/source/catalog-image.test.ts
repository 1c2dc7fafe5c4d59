import { type FileHandle, mkdtemp, open, readdir, rm } from 'node:fs/promises';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type SecretReader, systemClock } from '../../../core/controller.ts';
import {
  emptyKeychain,
  RegistryAccess,
  type RegistryAccessOptions,
} from '../../../core/registry/index.ts';
import { FakeRegistry } from '../../../test/helpers/fake-registry.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { CatalogFailure } from './catalog-failure.ts';
import { CatalogImages, type CatalogTimeouts } from './catalog-image.ts';

const { signal } = new AbortController();
const noSecrets: SecretReader = { read: async () => undefined };
let registry: FakeRegistry;
let directory: string;

beforeEach(async () => {
  registry = await FakeRegistry.start();
  directory = await mkdtemp(join(tmpdir(), 'catalog-image-'));
});
afterEach(async () => {
  await registry.stop();
  await rm(directory, { recursive: true });
});

interface ImagesOptions extends Partial<RegistryAccessOptions> {
  readonly secrets?: SecretReader;
  readonly maxBytes?: number;
  readonly timeouts?: CatalogTimeouts;
}

function images({
  secrets = noSecrets,
  maxBytes = 1_000_000,
  timeouts = { resolve: 60_000, download: 60_000 },
  ...access
}: ImagesOptions = {}): CatalogImages {
  const opened = new RegistryAccess({
    insecureRegistries: [registry.host],
    caCertificates: [],
    keychain: emptyKeychain,
    clock: systemClock,
    ...access,
  });
  return new CatalogImages({
    registry: opened,
    secrets,
    maxBytes,
    timeouts,
    logger: silentLogger,
  });
}

function request(image: string, pullSecret?: string) {
  return { ref: image, pullSecret, insecureSkipTLSVerify: false };
}

function secret(type: string, data: Record<string, string>): SecretReader {
  const bytes = Object.entries(data).map(([key, text]) => [key, Buffer.from(text)] as const);
  return { read: async () => ({ type, data: new Map(bytes) }) };
}

async function failureOf(work: Promise<unknown>): Promise<CatalogFailure> {
  const error = await work.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(CatalogFailure);
  return error as CatalogFailure;
}

test('a tag costs one HEAD, a digest nothing', async () => {
  const { digest } = await registry.addImage('v1', [{ files: { a: '' } }]);
  const shop = `${registry.host}/shop`;
  expect(await images().resolve(request(`${shop}:v1`), signal)).toBe(`${shop}@${digest}`);
  expect(registry.requests.map(({ method }) => method)).toEqual(['HEAD']);
  expect(await images().resolve(request(`${shop}@${digest}`), signal)).toBe(`${shop}@${digest}`);
  expect(registry.requests).toHaveLength(1);
});

test('a tag that is missing is told in the words of catalogd', async () => {
  const failure = await failureOf(images().resolve(request(`${registry.host}/shop:v1`), signal));
  expect(failure).toMatchObject({
    step: 'descriptor',
    message: `HEAD http://${registry.host}/v2/shop/manifests/v1: unexpected status code 404 Not Found (HEAD responses have no body, use GET for details)`,
  });
});

test('a pull secret opens the registry; without it the registry denies', async () => {
  const { digest } = await registry.addImage('v1', [{ files: { a: '' } }]);
  const wanted = `Basic ${Buffer.from('me:secret').toString('base64')}`;
  registry.intercept = (asked, response) => {
    if (asked.headers.authorization === wanted) return false;
    response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
    return true;
  };
  const ref = `${registry.host}/shop:v1`;
  const denied = await failureOf(images().resolve(request(ref), signal));
  expect(denied.message).toContain('unexpected status code 401 Unauthorized (HEAD');
  const unknown = await failureOf(images().resolve(request(ref, 'gone'), signal));
  expect(unknown.message).toBe(
    `${denied.message}; pull secret "gone" not found in the system namespace`,
  );
  const auths = { [registry.host]: { username: 'me', password: 'secret' } };
  const secrets = secret('kubernetes.io/dockercfg', { '.dockercfg': JSON.stringify(auths) });
  const opened = images({ secrets });
  expect(await opened.resolve(request(ref, 'mine'), signal)).toContain(digest);
});

test('an unusable pull secret is named', async () => {
  const secrets = secret('Opaque', {});
  const ref = `${registry.host}/shop:v1`;
  const failure = await failureOf(images({ secrets }).resolve(request(ref, 'mine'), signal));
  expect(failure).toMatchObject({ step: 'keychain', message: expect.stringContaining('"mine"') });
});

test.each(['', 'a b', 'http://x/y', 'Shop:v1', `x@sha256:1`])('%j is no reference', async (ref) => {
  const failure = await failureOf(images().resolve(request(ref), signal));
  expect(failure).toMatchObject({
    step: 'reference',
    message: `could not parse reference: ${ref}`,
    isFinal: true,
  });
});

test('an image over the limit is not downloaded', async () => {
  const { digest } = await registry.addImage('v1', [{ files: { a: 'x'.repeat(10_000) } }]);
  const small = images({ maxBytes: 10 });
  const ref = `${registry.host}/shop@${digest}`;
  const failure = await failureOf(
    small.download(ref, { request: request(ref), directory, signal }),
  );
  expect(failure).toMatchObject({
    step: 'image',
    message: expect.stringMatching(
      /^error fetching remote image ".*": the image has \d+ bytes, over/,
    ),
  });
  expect(registry.requests.filter(({ path }) => path.includes('/blobs/'))).toEqual([]);
});

test('a temporary download does not wait for the disk', async () => {
  const { digest } = await registry.addImage('v1', [{ files: { a: 'x' } }]);
  const file = await open(import.meta.filename);
  const sync = vi.spyOn(Object.getPrototypeOf(file) as FileHandle, 'sync');
  await file.close();
  onTestFinished(() => sync.mockRestore());
  const ref = `${registry.host}/shop@${digest}`;
  await images().download(ref, { request: request(ref), directory, signal });
  expect(await readdir(join(directory, 'blobs/sha256'))).toHaveLength(3);
  expect(sync).not.toHaveBeenCalled();
});

test('a manifest of another digest is refused', async () => {
  const { digest } = await registry.addImage('v1', [{ files: { a: '' } }]);
  registry.intercept = (asked, response) => {
    if (asked.url?.includes('/manifests/') !== true) return false;
    response.writeHead(200, { 'content-type': 'application/vnd.oci.image.manifest.v1+json' });
    response.end('{}');
    return true;
  };
  const ref = `${registry.host}/shop@${digest}`;
  const failure = await failureOf(
    images().download(ref, { request: request(ref), directory, signal }),
  );
  expect(failure.message).toContain('the manifest has the digest');
});

describe('a digest', () => {
  const missing = `sha256:${'0'.repeat(64)}`;
  const mirrored = (location: string) => ({
    registries: [
      {
        prefix: registry.host,
        location: undefined,
        insecure: true,
        blocked: false,
        mirrorByDigestOnly: false,
        mirrors: [{ location, insecure: true, pullFrom: 'all' as const }],
      },
    ],
  });

  async function missed(by: CatalogImages, digest = missing): Promise<boolean> {
    const ref = `${registry.host}/shop@${digest}`;
    const work = by.download(ref, { request: request(ref), directory, signal });
    return (await failureOf(work)).isMissing;
  }

  test('is missing only if the registry says so', async () => {
    expect(await missed(images())).toBe(true);
    const { digest } = await registry.addImage('v1', [{ files: { a: '' } }]);
    for (const status of [401, 403, 500]) {
      registry.intercept = (_, response) => {
        response.writeHead(status).end();
        return true;
      };
      expect([status, await missed(images(), digest)]).toEqual([status, false]);
    }
  });

  test('is missing only if all mirrors say so, too', async () => {
    const mirror = await FakeRegistry.start();
    const registries = mirrored(mirror.host);
    expect(await missed(images({ registries }))).toBe(true);
    mirror.intercept = (_, response) => {
      response.writeHead(500).end();
      return true;
    };
    expect(await missed(images({ registries }))).toBe(false);
    await mirror.stop();
    expect(await missed(images({ registries }))).toBe(false);
  });
});

describe('an image of which a mirror has the manifest alone', () => {
  let mirror: FakeRegistry;
  let digest: string;
  let download: () => Promise<void>;

  beforeEach(async () => {
    mirror = await FakeRegistry.start();
    onTestFinished(() => mirror.stop());
    for (const each of [registry, mirror]) {
      ({ digest } = await each.addImage('v1', [{ files: { a: 'x' } }]));
    }
    mirror.intercept = withoutBlobs;
    const rule = { prefix: registry.host, location: undefined, blocked: false };
    const mirrors = [{ location: mirror.host, insecure: true, pullFrom: 'all' as const }];
    const registries = [{ ...rule, insecure: true, mirrorByDigestOnly: false, mirrors }];
    const mirrored = images({ registries: { registries } });
    const ref = `${registry.host}/shop@${digest}`;
    download = () => mirrored.download(ref, { request: request(ref), directory, signal });
  });

  const withoutBlobs: FakeRegistry['intercept'] = (asked, response) => {
    if (asked.url?.includes('/blobs/') !== true) return false;
    response.writeHead(404).end();
    return true;
  };

  test('comes from the registry', async () => {
    await download();
    expect(await readdir(join(directory, 'blobs/sha256'))).toHaveLength(3);
  });

  test('fails with what each place has said, if the registry does not have it either', async () => {
    registry.intercept = withoutBlobs;
    const { message } = await failureOf(download());
    for (const { host } of [mirror, registry]) expect(message).toContain(host);
  });
});

test('the signed address of a storage that refuses to send a blob is not told', async () => {
  const storage = await FakeRegistry.start();
  onTestFinished(() => storage.stop());
  storage.intercept = (_, response) => {
    response.writeHead(403).end();
    return true;
  };
  const { digest } = await registry.addImage('v1', [{ files: { a: 'x' } }]);
  registry.intercept = (asked, response) => {
    if (asked.url?.includes('/blobs/') !== true) return false;
    const location = `http://${storage.host}/blob?X-Signature=s3cret&scope=a%3Ab&Date=${Math.random()}`;
    response.writeHead(307, { location }).end();
    return true;
  };
  const ref = `${registry.host}/shop@${digest}`;
  const insecureRegistries = [registry.host, storage.host];
  const work = images({ insecureRegistries }).download(ref, {
    request: request(ref),
    directory,
    signal,
  });
  expect((await failureOf(work)).message).toBe(
    `error fetching remote image "${ref}": GET http://${storage.host}/blob?Date=REDACTED&X-Signature=REDACTED&scope=a%3Ab: unexpected status code 403 Forbidden`,
  );
});

test('a registry that answers half is tried again later', async () => {
  const { digest } = await registry.addImage('v1', [{ files: { a: 'x'.repeat(100) } }]);
  registry.intercept = (asked, response) => {
    if (asked.url?.includes('/blobs/') !== true) return false;
    response.writeHead(200, { 'content-length': 1000 });
    response.write('half', () => response.destroy());
    return true;
  };
  const ref = `${registry.host}/shop@${digest}`;
  const failure = await failureOf(
    images().download(ref, { request: request(ref), directory, signal }),
  );
  expect(failure).toMatchObject({ step: 'image', isFinal: false, brokenRef: undefined });
  expect(failure.message).toMatch(/^error fetching remote image ".*": /);
});

describe('a registry that sends a byte now and then', () => {
  /** Sends a body of 1000 bytes for ever: each byte starts the idle timeout anew. */
  function drip(response: ServerResponse, status: number, headers: OutgoingHttpHeaders = {}): true {
    response.writeHead(status, { ...headers, 'content-length': 1000 });
    const timer = setInterval(() => response.write('x'), 50);
    response.on('close', () => clearInterval(timer));
    return true;
  }

  test('has its time to send an image', async () => {
    const { digest } = await registry.addImage('v1', [{ files: { a: 'x'.repeat(100) } }]);
    registry.intercept = (asked, response) =>
      asked.url?.includes('/manifests/') === true && drip(response, 200);
    const ref = `${registry.host}/shop@${digest}`;
    const slow = images({ timeouts: { resolve: 60_000, download: 200 } });
    const work = slow.download(ref, { request: request(ref), directory, signal });
    expect(await failureOf(work)).toMatchObject({
      step: 'image',
      message: `error fetching remote image "${ref}": not complete within the limit of 0.2 s`,
      isMissing: false,
    });
  });

  test('has its time to name the digest of a tag, its token server included', async () => {
    const realm = `http://${registry.host}/token`;
    registry.intercept = (asked, response) => {
      if (asked.url?.startsWith('/token') === true) return drip(response, 200);
      response.writeHead(401, { 'www-authenticate': `Bearer realm="${realm}"` }).end();
      return true;
    };
    const slow = images({ timeouts: { resolve: 200, download: 60_000 } });
    expect(
      await failureOf(slow.resolve(request(`${registry.host}/shop:v1`), signal)),
    ).toMatchObject({
      step: 'descriptor',
      message: 'not complete within the limit of 0.2 s',
    });
  });
});

describe('a registry at an address that is denied', () => {
  const unchecked = (ref: string) => ({ ...request(ref), insecureSkipTLSVerify: true });
  const ruled = (prefix: string) => ({
    registries: [
      {
        prefix,
        location: undefined,
        insecure: true,
        blocked: false,
        mirrorByDigestOnly: false,
        mirrors: [],
      },
    ],
  });

  test('gets no request of a user who skips the check of its certificate', async () => {
    const users = images({ insecureRegistries: [], addresses: {} });
    const ref = `${registry.host}/shop:v1`;
    for (const each of [request(ref), unchecked(ref)]) {
      const { message } = await failureOf(users.resolve(each, signal));
      expect(message).toContain('has a private, loopback or other denied address');
    }
    expect(registry.requests).toEqual([]);
  });

  test('gets requests if an admin has named it', async () => {
    const { digest } = await registry.addImage('v1', [{ files: { a: '' } }]);
    const ref = `${registry.host}/shop:v1`;
    for (const prefix of [registry.host, '*.0.0.1']) {
      const registries = ruled(prefix);
      const admins = images({ insecureRegistries: [], addresses: {}, registries });
      for (const each of [request(ref), unchecked(ref)]) {
        expect(await admins.resolve(each, signal)).toContain(digest);
      }
    }
  });
});
