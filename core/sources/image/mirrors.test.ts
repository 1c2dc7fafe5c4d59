import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FakeRegistry } from '../../../test/helpers/fake-registry.ts';
import { aSourceContext } from '../../../test/helpers/source-context.ts';
import { defaultLimits } from '../../content/index.ts';
import type { SourceContext, SourceResult } from '../../contracts/source.ts';
import { TerminalError, WaitingError } from '../../errors.ts';
import { systemClock } from '../../platform/clock.ts';
import { parseRegistriesConf } from '../../registry/configuration/registries-conf.ts';
import { createImageSource } from './image-source.ts';

const ref = '127.0.0.1:1/org/app:v1';
const files = { 'manifests/a.yaml': 'a: 1' };
let first: FakeRegistry;
let second: FakeRegistry;

beforeEach(async () => {
  first = await FakeRegistry.start();
  second = await FakeRegistry.start();
});

afterEach(async () => {
  await first.stop();
  await second.stop();
});

/** Both registries are mirrors of the primary, where nobody listens. */
async function fetchMirrored(
  changes: Partial<SourceContext> = {},
  image: { ref: string; pullSecret?: string } = { ref },
  registry = 'location = "127.0.0.1:1"',
): Promise<SourceResult> {
  const mirror = ({ host }: FakeRegistry) => `[[registry.mirror]]\nlocation = "${host}/copies"\n`;
  const conf = `[[registry]]\n${registry}\n${mirror(first)}${mirror(second)}`;
  const source = createImageSource({
    insecureRegistries: [first.host, second.host],
    registries: parseRegistriesConf(conf),
    clock: {
      ...systemClock,
      sleep: (ms, signal) => systemClock.sleep(ms > 9_999 ? ms : 0, signal),
    },
  });
  return await source.fetch({ type: 'image', image }, aSourceContext(changes));
}

function text({ files }: SourceResult): Record<string, string> {
  return Object.fromEntries(
    [...files.files].map(([path, content]) => [path, Buffer.from(content).toString()]),
  );
}

describe('an image with mirrors', () => {
  test('comes from the first one, under the name that was asked for', async () => {
    const { digest } = await first.addImage('v1', [{ files }]);
    const result = await fetchMirrored();
    expect(text(result)).toEqual(files);
    const pinned = `127.0.0.1:1/org/app@${digest}`;
    expect(result.resolvedSource).toEqual({ type: 'image', image: { ref: pinned } });
    expect(first.requests[0]?.path).toBe('/v2/copies/org/app/manifests/v1');
    expect(second.requests).toEqual([]);
    expect(text(await fetchMirrored({}, { ref: pinned }))).toEqual(files);
  });

  test('comes from the next one where a mirror has it not, or only in part', async () => {
    await second.addImage('v1', [{ files }]);
    expect(text(await fetchMirrored())).toEqual(files);
    await first.addImage('v1', [{ files }]);
    first.intercept = (request, response) => {
      if (request.url?.includes('/blobs/') !== true) return false;
      response.writeHead(404).end();
      return true;
    };
    expect(text(await fetchMirrored())).toEqual(files);
  });

  test('comes from the next one where a mirror gives other content', async () => {
    const { digest } = await second.addImage('v1', [{ files }]);
    first.intercept = (_, response) => {
      response.end('{}');
      return true;
    };
    const pinned = { ref: `127.0.0.1:1/org/app@${digest}` };
    expect(text(await fetchMirrored({}, pinned))).toEqual(files);
  });

  test('is waited for where none has it, each with its cause', async () => {
    const path = 'copies/org/app';
    await expect(fetchMirrored()).rejects.toThrow(
      new WaitingError(
        `Back-off pulling image "${ref}": registry ${first.host} has no "v1" in repository ${path}; ` +
          `registry ${second.host} has no "v1" in repository ${path}; ` +
          'registry 127.0.0.1:1: connection refused',
      ),
    );
  });

  test('says that the registry itself is blocked', async () => {
    const registry = 'location = "127.0.0.1:1"\nblocked = true';
    await expect(fetchMirrored({}, { ref }, registry)).rejects.toThrow(
      `registry ${second.host} has no "v1" in repository copies/org/app; registry 127.0.0.1:1 is blocked by the registries configuration (--registries-conf)`,
    );
  });

  test('is an error where its content is bad at all of them', async () => {
    const registry = 'location = "127.0.0.1:1"\nblocked = true';
    const bad = [{ tarEntries: [{ name: '../evil', content: 'x' }] }];
    const { digest } = await first.addImage('v1', bad);
    await second.addImage('v1', bad);
    const pinned = { ref: `127.0.0.1:1/org/app@${digest}` };
    const refused = fetchMirrored({}, pinned, registry);
    await expect(refused).rejects.toThrow(TerminalError);
    await expect(refused).rejects.toThrow(`error unpacking image: registry ${first.host}: layer`);
  });

  test('is asked for with the credentials of the place that is asked', async () => {
    await second.addImage('v1', [{ files }]);
    for (const registry of [first, second]) {
      registry.intercept = ({ headers }, response) => {
        if (registry === second && headers.authorization === basic('second')) return false;
        response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
        return true;
      };
    }
    const basic = (user: string) => `Basic ${Buffer.from(`${user}:x`).toString('base64')}`;
    const auths = {
      '127.0.0.1:1': { username: 'primary', password: 'x' },
      [`${second.host}/copies`]: { username: 'second', password: 'x' },
      [`${second.host}/other`]: { username: 'other', password: 'x' },
    };
    const data = new Map([['.dockerconfigjson', Buffer.from(JSON.stringify({ auths }))]]);
    const read = async () => ({ type: 'kubernetes.io/dockerconfigjson', data });
    const result = await fetchMirrored({ secrets: { read } }, { ref, pullSecret: 's' });
    expect(text(result)).toEqual(files);
    expect(first.requests.every(({ headers }) => headers.authorization === undefined)).toBe(true);
    expect(second.requests.map(({ headers }) => headers.authorization ?? '')).not.toContain(
      basic('primary'),
    );
  });

  test('is bounded at a mirror as anywhere', async () => {
    await first.addImage('v1', [{ files: { a: 'x'.repeat(1000) } }]);
    await second.addImage('v1', [{ files: { a: 'x'.repeat(1000) } }]);
    const limits = { ...defaultLimits, maxBytes: 500 };
    await expect(fetchMirrored({ limits })).rejects.toThrow('--max-content-bytes');
    first.intercept = (_, response) => {
      response.writeHead(302, { location: 'http://127.0.0.1:1/x' }).end();
      return true;
    };
    second.intercept = first.intercept;
    await expect(fetchMirrored()).rejects.toThrow('which is not listed as an insecure registry');
  });
});
