import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BundleSource } from '../../../api/v1alpha1/bundle.ts';
import { FakeRegistry } from '../../../test/helpers/fake-registry.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { aSourceContext } from '../../../test/helpers/source-context.ts';
import { defaultLimits } from '../../content/index.ts';
import type { Source, SourceContext, SourceResult } from '../../contracts/source.ts';
import { TerminalError, WaitingError } from '../../errors.ts';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { createImageSource } from './image-source.ts';

/** Does not wait for short times, and notes them; the deadline of a pull is a long one. */
class ImpatientClock implements Clock {
  readonly sleeps: number[] = [];
  now = () => Date.now();
  monotonic = () => performance.now();
  sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
    if (ms > 10_000) return systemClock.sleep(ms, signal);
    this.sleeps.push(ms);
    signal?.throwIfAborted();
  };
}

let registry: FakeRegistry;
let clock: ImpatientClock;
let source: Source;
const files = { 'manifests/a.yaml': 'a: 1' };

beforeEach(async () => {
  registry = await FakeRegistry.start();
  clock = new ImpatientClock();
  source = createImageSource({ insecureRegistries: [registry.host], clock });
});

afterEach(async () => {
  await registry.stop();
});

function context(changes: Partial<SourceContext> = {}): SourceContext {
  return aSourceContext({ signal: AbortSignal.timeout(120_000), ...changes });
}

function refOf(version: string): string {
  return `${registry.host}/org/app${version}`;
}

async function fetchRef(version: string, changes?: Partial<SourceContext>): Promise<SourceResult> {
  return await source.fetch({ type: 'image', image: { ref: refOf(version) } }, context(changes));
}

async function failure(version: string, changes?: Partial<SourceContext>): Promise<Error> {
  const outcome: unknown = await fetchRef(version, changes).catch((error: unknown) => error);
  if (outcome instanceof Error) return outcome;
  throw new Error('the fetch did not fail');
}

function text({ files }: SourceResult): Record<string, string> {
  return Object.fromEntries(
    [...files.files].map(([path, content]) => [path, Buffer.from(content).toString()]),
  );
}

function backOff(version: string, cause: string): WaitingError {
  return new WaitingError(
    `Back-off pulling image "${refOf(version)}": registry ${registry.host}${cause}`,
  );
}

describe('an image', () => {
  it('of a packed chart comes without the rules that Helm applies to folders', async () => {
    const others = { 'web/Chart.yaml': '', 'web/charts/db/.helmignore': '*.txt' };
    const chart = [{ files: { ...others, 'web/.helmignore': '*.json' } }];
    const mediaType = 'application/vnd.cncf.helm.config.v1+json';
    const config = registry.addBlob(Buffer.from('{}'), mediaType);
    await registry.addImage('packed', chart, (manifest) => ({ ...manifest, config }));
    expect(text(await fetchRef(':packed'))).toEqual(others);
    await registry.addImage('folder', chart);
    expect(text(await fetchRef(':folder'))).toMatchObject({ 'web/.helmignore': '*.json' });
  });

  it('is pinned to the digest of its manifest, and comes from there again', async () => {
    const { digest } = await registry.addImage('v1', [{ files }]);
    const result = await fetchRef(':v1');
    expect(text(result)).toEqual(files);
    expect(result.resolvedSource).toEqual({
      type: 'image',
      image: { ref: refOf(`@${digest}`) },
    });
    await registry.addImage('v1', [{ files: { other: '' } }]);
    expect(text(await source.fetch(result.resolvedSource, context()))).toEqual(files);
  });

  it('is found by tag and digest together, the digest counting', async () => {
    const { digest } = await registry.addImage('v1', [{ files }]);
    await registry.addImage('v1', [{ files: { other: '' } }]);
    const result = await fetchRef(`:v1@${digest}`);
    expect(text(result)).toEqual(files);
    expect(result.resolvedSource.image?.ref).toBe(refOf(`@${digest}`));
  });

  it('may be of a sha512 digest', async () => {
    const { digest } = await registry.addImage('v1', [{ files }]);
    const manifest = await (await fetch(`http://${registry.host}/v2/org/app/manifests/v1`)).bytes();
    const sha512 = `sha512:${createHash('sha512').update(manifest).digest('hex')}`;
    registry.intercept = (request, response) => {
      if (request.url?.endsWith(sha512) !== true) return false;
      response.writeHead(307, { location: `/v2/org/app/manifests/${digest}` }).end();
      return true;
    };
    const result = await fetchRef(`@${sha512}`);
    expect(result.resolvedSource.image?.ref).toBe(refOf(`@${sha512}`));
  });

  it('of an index is that of the platform, pinned to the index', async () => {
    const wrong = await registry.addImage('arm', [{ files: { wrong: '' } }]);
    const right = await registry.addImage('x86', [{ files }]);
    const mediaType = 'application/vnd.oci.image.index.v1+json';
    const manifests = [
      { ...wrong, platform: { os: 'unknown', architecture: 'unknown' } },
      { ...wrong, platform: { os: 'linux', architecture: 's390x' } },
      { ...right, platform: { os: 'linux', architecture: 'mips' } },
    ];
    const index = { schemaVersion: 2, mediaType, manifests };
    const { digest } = registry.addManifest(index, { mediaType, tag: 'v1' });
    const platform = { os: 'linux', architecture: 'mips' };
    source = createImageSource({ insecureRegistries: [registry.host], clock, platform });
    const result = await fetchRef(':v1');
    expect(text(result)).toEqual(files);
    expect(result.resolvedSource.image?.ref).toBe(refOf(`@${digest}`));
  });

  it('of Docker has other media types', async () => {
    await registry.addImage('v1', [{ files }], (manifest) => {
      const [layer] = manifest['layers'] as object[];
      return {
        ...manifest,
        mediaType: 'application/vnd.docker.distribution.manifest.v2+json',
        config: {
          ...(manifest['config'] as object),
          mediaType: 'application/vnd.docker.container.image.v1+json',
        },
        layers: [{ ...layer, mediaType: 'application/vnd.docker.image.rootfs.diff.tar.gzip' }],
      };
    });
    expect(text(await fetchRef(':v1'))).toEqual(files);
  });

  it('keeps its pull secret', async () => {
    await registry.addImage('v1', [{ files }]);
    const read = async () => ({
      type: 'kubernetes.io/dockerconfigjson',
      data: new Map([['.dockerconfigjson', Buffer.from('{}')]]),
    });
    const image = { ref: refOf(':v1'), pullSecret: 's' };
    const result = await source.fetch({ type: 'image', image }, context({ secrets: { read } }));
    expect(result.resolvedSource.image).toMatchObject({ pullSecret: 's' });
  });

  it('is downloaded once for all who want it at the same time, by whatever tag', async () => {
    await registry.addImage('v1', [{ files }]);
    await registry.addImage('v2', [{ files }]);
    const answer = Promise.withResolvers<void>();
    registry.intercept = async (request) => {
      if (request.url?.includes('/blobs/') === true) await answer.promise;
      return false;
    };
    const leaving = new AbortController();
    const runs = [
      fetchRef(':v1', { signal: leaving.signal }),
      fetchRef(':v1'),
      fetchRef(':v2'),
    ] as const;
    const manifests = () => registry.requests.filter(({ path }) => path.includes('/manifests/'));
    const blobs = () => registry.requests.filter(({ path }) => path.includes('/blobs/'));
    await expect.poll(() => [manifests().length, blobs().length]).toEqual([3, 1]);
    leaving.abort(new Error('not any more'));
    await expect(runs[0]).rejects.toThrow('not any more');
    answer.resolve();
    expect([text(await runs[1]), text(await runs[2])]).toEqual([files, files]);
    expect(blobs()).toHaveLength(1);
  });
});

describe('waits for', () => {
  it('a tag that is not there', async () => {
    expect(await failure(':v1')).toEqual(backOff(':v1', ' has no "v1" in repository org/app'));
  });

  it('a registry that refuses the connection', async () => {
    const gone = await FakeRegistry.start();
    const { host } = gone;
    await gone.stop();
    const image = { ref: `${host}/x` };
    source = createImageSource({ insecureRegistries: [host], clock });
    await expect(source.fetch({ type: 'image', image }, context())).rejects.toThrow(
      new WaitingError(`Back-off pulling image "${host}/x": registry ${host}: connection refused`),
    );
  });

  it.each([
    [500, '500 Internal Server Error', [200, 400]],
    [503, '503 Service Unavailable', [200, 400]],
    [429, '429 Too Many Requests', [200, 400, 800, 1600, 3200, 6400]],
  ])('a registry that keeps answering %d, after a few tries', async (status, words, sleeps) => {
    registry.intercept = (_, response) => {
      response.writeHead(status).end();
      return true;
    };
    expect(await failure(':v1')).toEqual(backOff(':v1', ` answered ${words}`));
    expect(clock.sleeps).toEqual(sleeps);
  });

  it('a busy registry for as long as it says, if that is short', async () => {
    await registry.addImage('v1', [{ files }]);
    let busy = 1;
    registry.intercept = (_, response) => {
      if (busy === 0) return false;
      busy -= 1;
      response.writeHead(429, { 'retry-after': '2' }).end();
      return true;
    };
    expect(text(await fetchRef(':v1'))).toEqual(files);
    expect(clock.sleeps).toEqual([2000]);
  });

  it('a registry that refuses every other request', async () => {
    await registry.addImage('v1', [{ files }, { files: { other: '' } }]);
    registry.intercept = (_, response) => {
      if (registry.requests.length % 2 === 0) return false;
      response.writeHead(429).end();
      return true;
    };
    expect(text(await fetchRef(':v1'))).toEqual({ ...files, other: '' });
    expect(registry.requests).toHaveLength(6);
  });

  it('a busy registry no longer than a few seconds', async () => {
    registry.intercept = (_, response) => {
      response.writeHead(429, { 'retry-after': '3600' }).end();
      return true;
    };
    expect(await failure(':v1')).toBeInstanceOf(WaitingError);
    expect(registry.requests).toHaveLength(1);
  });

  it('an answer no longer than the time limit', async () => {
    registry.intercept = () => true;
    const limits = { ...defaultLimits, timeout: 300 };
    source = createImageSource({ insecureRegistries: [registry.host], clock: systemClock });
    expect(await failure(':v1', { limits })).toEqual(
      new WaitingError(
        `Back-off pulling image "${refOf(':v1')}": not complete within the limit of 0.3 s (--content-timeout)`,
      ),
    );
  });

  it('a registry whose certificate it cannot check, and never in the clear', async () => {
    source = createImageSource({ insecureRegistries: ['127.0.0.1', 'localhost'], clock });
    expect(await failure(':v1')).toEqual(
      backOff(
        ':v1',
        ': it does not speak TLS; plain HTTP is used only for hosts that --insecure-registry names',
      ),
    );
    expect(registry.requests).toEqual([]);
  });

  it('a connection that keeps breaking', async () => {
    await registry.addImage('v1', [{ files }]);
    registry.intercept = (request, response) => {
      if (request.url?.includes('/blobs/') !== true) return false;
      response.writeHead(200, { 'content-length': 10_000 }).write('x');
      setImmediate(() => response.destroy());
      return true;
    };
    await registry.addImage('v1', [{ rawLayer: Buffer.alloc(10_000) }]);
    expect(await failure(':v1')).toEqual(
      backOff(':v1', ': connection closed before the answer was complete'),
    );
  });
});

describe('a broken connection', () => {
  it.each([true, false])('is taken up where it broke; ranges: %s', async (ranges) => {
    const large = { 'manifests/large': 'x y z'.repeat(100_000) };
    await registry.addImage('v1', [{ files: large, compression: 'none' }]);
    registry.breaks = 2;
    registry.intercept = (request) => {
      if (!ranges) delete request.headers.range;
      return false;
    };
    expect(text(await fetchRef(':v1'))).toEqual(large);
    const blobs = registry.requests.filter(({ path }) => path.includes('/blobs/'));
    expect(blobs).toHaveLength(3);
    if (ranges) expect(blobs[2]?.headers.range).toMatch(/^bytes=[0-9]+-$/);
    expect(registry.breaks).toBe(0);
  });

  it('is taken up however often it breaks, as long as something comes', async () => {
    const large = { 'manifests/large': 'x y z'.repeat(200_000) };
    await registry.addImage('v1', [{ files: large, compression: 'none' }]);
    registry.breaks = Number.POSITIVE_INFINITY;
    expect(text(await fetchRef(':v1'))).toEqual(large);
    expect(registry.requests).toHaveLength(22);
  });

  it('ends with its caller, while the body hangs', async () => {
    await registry.addImage('v1', [{ files }]);
    const closed = Promise.withResolvers<void>();
    registry.intercept = (request, response) => {
      if (request.url?.includes('/blobs/') !== true) return false;
      response.writeHead(200).write('x');
      response.on('close', () => closed.resolve());
      return true;
    };
    const leaving = new AbortController();
    const run = fetchRef(':v1', { signal: leaving.signal });
    await expect.poll(() => registry.requests.length).toBe(2);
    const reason = new Error('the Bundle is gone');
    leaving.abort(reason);
    await expect(run).rejects.toBe(reason);
    await closed.promise;
  });
});

describe('credential helpers', () => {
  const lines: string[] = [];

  function withSecret(config: object): Partial<SourceContext> {
    const data = new Map([['.dockerconfigjson', Buffer.from(JSON.stringify(config))]]);
    const read = async () => ({ type: 'kubernetes.io/dockerconfigjson', data });
    const logger = { ...silentLogger, info: (_: object, line: string) => void lines.push(line) };
    return { secrets: { read }, logger };
  }

  it('are not run, which is said once per secret, and where access is denied', async () => {
    const told =
      'credential helpers (credHelpers, credsStore) are not run: only credentials under auths are used';
    await registry.addImage('v1', [{ files }]);
    const context = withSecret({ credHelpers: { [registry.host]: 'ecr-login' }, credsStore: 'x' });
    for (const pullSecret of ['one', 'one', 'two']) {
      const image = { ref: refOf(':v1'), pullSecret };
      await source.fetch({ type: 'image', image }, aSourceContext(context));
    }
    expect(lines).toEqual([told, told]);
    registry.intercept = (_, response) => {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
      return true;
    };
    const image = { ref: refOf(':v1'), pullSecret: 'one' };
    await expect(source.fetch({ type: 'image', image }, aSourceContext(context))).rejects.toThrow(
      `error fetching image descriptor: registry ${registry.host} denies access to repository org/app without credentials (401 Unauthorized); ${told}`,
    );
  });
});

describe('a pull secret that is not there', () => {
  const image = (): BundleSource => ({
    type: 'image',
    image: { ref: refOf(':v1'), pullSecret: 'gone' },
  });

  it('counts as no credentials, and stays in the pin', async () => {
    await registry.addImage('v1', [{ files }]);
    const { resolvedSource } = await source.fetch(image(), aSourceContext());
    expect(resolvedSource.image?.pullSecret).toBe('gone');
  });

  it('is named where access is denied', async () => {
    registry.intercept = (_, response) => {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
      return true;
    };
    await expect(source.fetch(image(), aSourceContext())).rejects.toThrow(
      `registry ${registry.host} denies access to repository org/app without credentials (401 Unauthorized); pull secret "gone" not found in the system namespace`,
    );
  });
});

describe('redirects', () => {
  it('are followed to other hosts without the credentials', async () => {
    const other = await FakeRegistry.start();
    try {
      await registry.addImage('v1', [{ files }]);
      await other.addImage('v1', [{ files }]);
      registry.intercept = (request, response) => {
        if (request.headers.authorization === undefined) {
          response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
          return true;
        }
        if (request.url?.includes('/blobs/') !== true) return false;
        response.writeHead(307, { location: `http://${other.host}${request.url}` }).end();
        return true;
      };
      const insecureRegistries = [registry.host, other.host];
      source = createImageSource({ insecureRegistries, clock });
      const auths = { [registry.host]: { username: 'u', password: 'p' } };
      const data = new Map([['.dockerconfigjson', Buffer.from(JSON.stringify({ auths }))]]);
      const read = async () => ({ type: 'kubernetes.io/dockerconfigjson', data });
      const image = { ref: refOf(':v1'), pullSecret: 's' };
      const result = await source.fetch({ type: 'image', image }, context({ secrets: { read } }));
      expect(text(result)).toEqual(files);
      expect(other.requests).toHaveLength(1);
      expect(other.requests[0]?.headers.authorization).toBeUndefined();
    } finally {
      await other.stop();
    }
  });

  it.each([
    ['http://127.0.0.1:1/x', 'registry sends us to http://127.0.0.1:1, which is not listed'],
    ['file:///etc/passwd', 'registry sends us to file://, which is not listed'],
    ['http://', 'redirects to an address that is not a URL: "http://"'],
  ])('to %s are not followed', async (location, words) => {
    registry.intercept = (_, response) => {
      response.writeHead(302, { location }).end();
      return true;
    };
    expect((await failure(':v1')).message).toContain(words);
  });

  it('in a circle end', async () => {
    registry.intercept = (request, response) => {
      response.writeHead(301, { location: request.url ?? '' }).end();
      return true;
    };
    expect(await failure(':v1')).toEqual(backOff(':v1', ' redirects more than 5 times'));
  });
});

describe('refuses', () => {
  it('a source without its block, and an invalid reference', async () => {
    await expect(source.fetch({ type: 'image' }, context())).rejects.toThrow(
      new TerminalError('bundle source image configuration is unset'),
    );
    await expect(
      source.fetch({ type: 'image', image: { ref: 'Not a reference' } }, context()),
    ).rejects.toThrow(new TerminalError('error parsing image reference: invalid reference format'));
  });

  it.each([
    ['another length', (_whole: Buffer) => gzipSync('something else of another length')],
    ['no gzip', (whole: Buffer) => Buffer.alloc(whole.byteLength, '<')],
    ['a part', (whole: Buffer) => whole.subarray(0, 40)],
    ['another byte', (whole: Buffer) => whole.map((byte, at) => (at === 30 ? byte ^ 1 : byte))],
  ])(
    'a blob that the server damages once, and then takes the whole one: %s',
    async (_, damaged) => {
      const { digest } = await registry.addImage('v1', [{ files }]);
      for (const version of [':v1', `@${digest}`, `@${digest}`]) {
        registry.damage = damaged;
        const error = await failure(version);
        expect(error.message).toMatch(/^error unpacking image: layer sha256:\w{64}: blob sha256:/);
        expect(error).not.toBeInstanceOf(TerminalError);
        expect(error).not.toBeInstanceOf(WaitingError);
        registry.damage = (blob) => blob;
        expect((await fetchRef(version)).files.files.size).toBeGreaterThan(0);
        registry.hidesLength = true;
      }
    },
  );

  it('bad content of a digest for good', async () => {
    const { digest } = await registry.addImage('v1', [
      { tarEntries: [{ name: '../evil', content: 'x' }] },
    ]);
    for (const version of [':v1', `@${digest}`]) {
      const error = await failure(version);
      expect(error.message).toContain('leaves the bundle');
      expect(error instanceof TerminalError).toBe(version.startsWith('@'));
    }
  });

  it('a blob of the right size but another digest', async () => {
    await registry.addImage('v1', [{ files, compression: 'none' }], (manifest) => {
      const [layer] = manifest['layers'] as { digest: string }[];
      const digest = `sha256:${'0'.repeat(64)}`;
      registry.intercept = (request, response) => {
        if (request.url?.endsWith(digest) !== true) return false;
        response.writeHead(307, { location: request.url.replace(digest, layer!.digest) }).end();
        return true;
      };
      return { ...manifest, layers: [{ ...layer, digest }] };
    });
    expect((await failure(':v1')).message).toMatch(
      /^error unpacking image: layer sha256:0+: blob sha256:0+ has the digest sha256:\w{64}$/,
    );
  });

  it.each([
    ['more', -1, 'bytes instead of the'],
    ['fewer', 1, 'bytes instead of the'],
  ])('a blob of %s bytes, stated or not', async (_, difference, words) => {
    for (const stated of [true, false]) {
      await registry.addImage('v1', [{ files, compression: 'none' }], (manifest) => {
        const [layer] = manifest['layers'] as { size: number }[];
        return { ...manifest, layers: [{ ...layer, size: layer!.size + difference }] };
      });
      registry.hidesLength = !stated;
      const { message } = await failure(':v1');
      expect(message).toContain('error unpacking image: layer sha256:');
      expect(message).toContain(stated ? words : 'instead of the');
    }
  });

  it('a manifest of another digest', async () => {
    const { digest } = await registry.addImage('v1', [{ files }]);
    await registry.addImage('v2', [{ files: {} }]);
    registry.intercept = (request, response) => {
      if (request.url?.endsWith(digest) !== true) return false;
      response.writeHead(307, { location: '/v2/org/app/manifests/v2' }).end();
      return true;
    };
    const error = await failure(`@${digest}`);
    expect(error).not.toBeInstanceOf(TerminalError);
    expect(error.message).toMatch(
      /^error fetching image descriptor: the manifest has the digest sha256:\w+ instead of sha256:/,
    );
  });

  it('a manifest that the registry itself says to be another', async () => {
    registry.intercept = (_, response) => {
      const stated = `sha256:${'0'.repeat(64)}`;
      response.writeHead(200, { 'docker-content-digest': stated }).end('{}');
      return true;
    };
    expect((await failure(':v1')).message).toContain('instead of sha256:000');
  });

  it('an endless manifest', async () => {
    registry.intercept = (_, response) => {
      const write = (): void => void response.write(Buffer.alloc(65_536), write);
      response.on('error', () => undefined);
      write();
      return true;
    };
    expect((await failure(':v1')).message).toBe(
      'error fetching image descriptor: the manifest is larger than 4194304 bytes',
    );
  });

  it('an index without the platform', async () => {
    const mediaType = 'application/vnd.docker.distribution.manifest.list.v2+json';
    const manifest = await registry.addImage('x', [{ files }]);
    const platform = { os: 'windows', architecture: 'amd64' };
    const index = { schemaVersion: 2, mediaType, manifests: [{ ...manifest, platform }] };
    registry.addManifest(index, { mediaType, tag: 'v1' });
    source = createImageSource({
      insecureRegistries: [registry.host],
      clock,
      platform: { os: 'linux', architecture: 'amd64' },
    });
    expect((await failure(':v1')).message).toBe(
      'error fetching image descriptor: image index has no manifest for linux/amd64; it has windows/amd64',
    );
  });

  it('layers that are larger than the limit before it downloads them', async () => {
    await registry.addImage('v1', [{ files }], (manifest) => {
      const [layer] = manifest['layers'] as object[];
      return { ...manifest, layers: [{ ...layer, size: 10 ** 12 }] };
    });
    expect((await failure(':v1')).message).toBe(
      `error unpacking image: the image's layers have 1000000000000 bytes, over the limit of 67108864 (--max-content-bytes)`,
    );
    expect(registry.requests).toHaveLength(1);
  });

  it('a blob that is not there, and asks for it again later', async () => {
    await registry.addImage('v1', [{ files }]);
    registry.intercept = (request, response) => {
      if (request.url?.includes('/blobs/') !== true) return false;
      response.writeHead(404).end();
      return true;
    };
    const error = await failure(':v1');
    expect(error).not.toBeInstanceOf(TerminalError);
    expect(error.message).toMatch(/^error unpacking image: .*404 Not Found for blob sha256:/);
  });
});
