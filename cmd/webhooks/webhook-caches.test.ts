import { expect, onTestFinished, test } from 'vitest';
import { ApiError, type KubeClient, type Resource } from '../../core/platform/kube/index.ts';
import { eventually } from '../../test/helpers/eventually.ts';
import { FakeKubeClient } from '../../test/helpers/fake-kube-client.ts';
import { ManualClock } from '../../test/helpers/manual-clock.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import { createWebhookCaches } from './webhook-caches.ts';

const { signal } = new AbortController();
const systemNamespace = 'system';
const broken = new ApiError(503, { message: 'the server is down' });
const minute = 60_000;

async function start() {
  const kinds = ['bundles', 'configmaps', 'bundledeployments'] as const;
  const fakes = new Map<string, FakeKubeClient>(kinds.map((kind) => [kind, new FakeKubeClient()]));
  const fakeOf = ({ plural }: Pick<Resource, 'plural'>): FakeKubeClient => {
    const fake = fakes.get(plural);
    if (fake === undefined) throw new Error(`nobody asks for ${plural}`);
    return fake;
  };
  const client: Pick<KubeClient, 'get' | 'list' | 'watch'> = {
    get: (resource, ...rest) => fakeOf(resource).get(resource, ...rest),
    list: (resource, ...rest) => fakeOf(resource).list(resource, ...rest),
    watch: (resource, ...rest) => fakeOf(resource).watch(resource, ...rest),
  };
  fakeOf({ plural: 'configmaps' }).put(aConfigMap(true));
  const clock = new ManualClock();
  const caches = createWebhookCaches({ client, clock, logger: silentLogger, systemNamespace });
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  for (const reflector of caches.reflectors) void reflector.run(stop.signal);
  for (const reflector of caches.reflectors) await reflector.ready?.(signal);
  /** From now on its watch ends, and each next one. */
  const breakWatch = async (plural: (typeof kinds)[number]): Promise<void> => {
    const fake = fakeOf({ plural });
    await eventually(() => expect(fake.openWatches).toBe(1));
    fake.beforeCall = (call) => {
      if (call !== 'get') throw broken;
    };
    fake.endWatches(broken);
    await eventually(() => expect(fake.openWatches).toBe(0));
  };
  return { caches, clock, configMaps: fakeOf({ plural: 'configmaps' }), breakWatch };
}

function aConfigMap(immutable: boolean) {
  const metadata = { namespace: systemNamespace, name: 'content' };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, immutable };
}

test('the process is ready while one watch works', async () => {
  const { caches, clock, breakWatch } = await start();
  for (const kind of ['bundles', 'configmaps'] as const) await breakWatch(kind);
  clock.advance(10 * minute);
  expect(caches.checkWatches).not.toThrow();
  await breakWatch('bundledeployments');
  clock.advance(minute - 1);
  expect(caches.checkWatches).not.toThrow();
  clock.advance(1);
  expect(caches.checkWatches).toThrow('no watch works: the server is down');
});

test('the API server is asked for a ConfigMap while its watch is broken', async () => {
  const { caches, configMaps, breakWatch } = await start();
  const immutable = async () => (await caches.routes.configMaps.get('content', signal))?.immutable;
  expect(await immutable()).toBe(true);
  expect(configMaps.count('get')).toBe(0);
  await breakWatch('configmaps');
  configMaps.put(aConfigMap(false));
  expect(await immutable()).toBe(false);
});

test('a ConfigMap counts as immutable before the watch has told of it', async () => {
  const { caches, configMaps } = await start();
  configMaps.put(aConfigMap(false));
  const immutable = async () => (await caches.routes.configMaps.get('content', signal))?.immutable;
  await eventually(async () => expect(await immutable()).toBe(false));
  configMaps.silenceWatches();
  configMaps.put(aConfigMap(true));
  expect(await immutable()).toBe(true);
});
