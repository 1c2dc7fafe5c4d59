import { expect, onTestFinished, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { eventually } from '../../../test/helpers/eventually.ts';
import { FakeKubeClient } from '../../../test/helpers/fake-kube-client.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { systemClock } from '../../platform/clock.ts';
import type { KubeClient } from '../../platform/kube/index.ts';
import { createCrdReaderRole } from './crd-reader-role.ts';

interface Written {
  /** Each role, as it was written. */
  readonly roles: KubernetesObject[];
  fault: Error | undefined;
}

function follow(client: FakeKubeClient): Written {
  const written: Written = { roles: [], fault: undefined };
  const apply: KubeClient['apply'] = async (_resource, object) => {
    const { fault } = written;
    written.fault = undefined;
    if (fault !== undefined) throw fault;
    written.roles.push(object);
    return object;
  };
  const role = createCrdReaderRole({
    client: {
      list: (...args) => client.list(...args),
      watch: (...args) => client.watch(...args),
      apply,
    },
    name: 'readers',
    clock: systemClock,
    logger: silentLogger,
  });
  const stop = new AbortController();
  const running = role.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  return written;
}

function putCrd(client: FakeKubeClient, name: string): void {
  client.put({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name },
  });
}

test('the role lists what CRDs serve, and no group that is not theirs', async () => {
  const client = new FakeKubeClient();
  for (const name of ['widgets.example.com', 'gears.example.com', 'cogs.deep.example.org']) {
    putCrd(client, name);
  }
  const written = follow(client);
  await eventually(() => expect(written.roles).toHaveLength(1));
  expect(written.roles[0]).toEqual({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'readers' },
    rules: [
      { apiGroups: ['deep.example.org'], resources: ['cogs'], verbs: ['list'] },
      { apiGroups: ['example.com'], resources: ['gears', 'widgets'], verbs: ['list'] },
    ],
  });
});

test('without a CRD it allows nothing', async () => {
  const written = follow(new FakeKubeClient());
  await eventually(() => expect(written.roles).toMatchObject([{ rules: [] }]));
});

test('a CRD that comes or goes changes it, also where the first write fails', async () => {
  const client = new FakeKubeClient();
  const written = follow(client);
  await eventually(() => expect(written.roles).toHaveLength(1));
  written.fault = new Error('the API server is away');
  putCrd(client, 'widgets.example.com');
  await eventually(() => {
    expect(written.roles.at(-1)?.['rules']).toEqual([
      { apiGroups: ['example.com'], resources: ['widgets'], verbs: ['list'] },
    ]);
  });
  client.drop({ name: 'widgets.example.com' });
  await eventually(() => expect(written.roles.at(-1)?.['rules']).toEqual([]));
});
