import { expect, test } from 'vitest';
import { ApiError, type KubeClient, systemClock } from '../core/controller.ts';
import { FakeKubeClient } from '../test/helpers/fake-kube-client.ts';
import { silentLogger } from '../test/helpers/silent-logger.ts';
import { operatorKinds, ServedKinds } from './served-kinds.ts';

const names = [
  'catalogs.catalogd.operatorframework.io',
  'operators.operators.operatorframework.io',
  'clustercatalogs.olm.operatorframework.io',
  'clusterextensions.olm.operatorframework.io',
];

function aDefinition(name: string) {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name },
  };
}

/** CRDs in memory; `probe` answers for the kinds themselves. */
function watched(definitions: FakeKubeClient, probe: () => void = () => undefined) {
  const client: Pick<KubeClient, 'list' | 'watch'> = {
    list: async (resource, options) => {
      if (resource.plural === 'customresourcedefinitions')
        return await definitions.list(resource, options);
      probe();
      return { metadata: { resourceVersion: '1' }, items: [] };
    },
    watch: (resource, options) => definitions.watch(resource, options),
  };
  const stop = new AbortController();
  const kinds = new ServedKinds({
    client,
    resources: operatorKinds,
    clock: systemClock,
    logger: silentLogger,
  });
  const running = kinds.run(stop.signal);
  const end = async (): Promise<void> => {
    stop.abort(new Error('the test is over'));
    await running;
  };
  return { kinds, end };
}

test('kinds that are served already are ready, and nothing watches any longer', async () => {
  const definitions = new FakeKubeClient();
  for (const name of names) definitions.put(aDefinition(name));
  const { kinds, end } = watched(definitions);
  await kinds.ready();
  kinds.check();
  expect(definitions.openWatches).toBe(0);
  await end();
});

test('CRDs may come one by one, and the check names those that are missing', async () => {
  const definitions = new FakeKubeClient();
  const { kinds, end } = watched(definitions);
  expect(() => kinds.check()).toThrow(`waiting for CRD ${names.join(', ')}`);
  for (const name of names.slice(0, 3)) definitions.put(aDefinition(name));
  await expect.poll(() => failure(() => kinds.check())).toBe(`waiting for CRD ${names[3]}`);
  definitions.put(aDefinition(names[3] ?? ''));
  await kinds.ready();
  kinds.check();
  await end();
});

test('an existing kind that is not served yet is asked for again', async () => {
  const definitions = new FakeKubeClient();
  for (const name of names) definitions.put(aDefinition(name));
  const answers = [
    new ApiError(404, { message: 'the server could not find the requested resource' }),
    new ApiError(503, { message: 'etcdserver: leader changed' }),
  ];
  const { kinds, end } = watched(definitions, () => {
    const error = answers.shift();
    if (error !== undefined) throw error;
  });
  await kinds.ready();
  expect(answers).toEqual([]);
  await end();
});

test('a process that stops does not wait for CRDs', async () => {
  const { end } = watched(new FakeKubeClient());
  await end();
});

function failure(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
