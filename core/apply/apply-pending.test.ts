import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { aDesiredObject } from '../../test/helpers/desired-objects.ts';
import { EventList } from '../../test/helpers/event-list.ts';
import { FakeKubeClient } from '../../test/helpers/fake-kube-client.ts';
import { inProcessJudge } from '../../test/helpers/in-process-judge.ts';
import { ManualClock } from '../../test/helpers/manual-clock.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import { aStoredDeployment } from '../../test/helpers/stored-objects.ts';
import { ApiError, keyOf, type Resource } from '../platform/kube/index.ts';
import { applyPending } from './apply-pending.ts';
import { engineParts } from './engine-parts.ts';
import type { DesiredObject } from './objects/desired.ts';
import { OwnershipRefusal } from './plan/ownership-check.ts';
import type { Run } from './run.ts';

/** Has server-side apply as far as creation goes. */
class ApplyingClient extends FakeKubeClient {
  override apply = async (_: Resource, object: KubernetesObject): Promise<KubernetesObject> => {
    const isThere = this.peek(keyOf(object)) !== undefined;
    if (isThere) throw new ApiError(409, { reason: 'Conflict' });
    return this.put(object);
  };
}

function aConfigMap(name: string): DesiredObject {
  const metadata = { name, namespace: 'n' };
  return aDesiredObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
}

const [occupied, restored] = [aConfigMap('occupied'), aConfigMap('restored')];

function aRun(client: ApplyingClient, operation: Run['operation']): Run {
  const { signal } = new AbortController();
  const discovery = {
    invalidate: () => undefined,
    resourceFor: async () => undefined,
    resourceForGroupKind: async () => undefined,
    namespacedResources: async () => [],
  };
  const parts = engineParts(
    {
      client,
      discovery,
      clock: new ManualClock(),
      judge: inProcessJudge,
      logger: silentLogger,
      events: new EventList(),
      systemNamespace: 'rukpak-system',
      signal,
    },
    () => undefined,
  );
  const owner = client.put(aStoredDeployment()) as BundleDeployment;
  const objects = [restored, occupied];
  const set = {
    objects,
    ids: new Set(objects.map(({ id }) => id)),
    resources: [occupied.resource],
    omitted: [],
    isServed: () => true,
    presentAs: ({ resource }: DesiredObject) => resource,
  };
  return {
    parts,
    owner,
    name: 'demo',
    client,
    operation,
    set,
    earlier: [],
    waitForReady: false,
    foundationOnly: false,
    hooks: [],
    origin: {},
    unchanged: operation === 'upgrade',
    signal,
  };
}

/** What is left of an object that was created while the next one turned out to be of others. */
async function afterRefusal(operation: Run['operation']) {
  const client = new ApplyingClient();
  const metadata = { name: 'occupied', namespace: 'n' };
  client.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
  const run = aRun(client, operation);
  const repair = operation === 'upgrade';
  const plan = [restored, occupied].map((desired) => ({ desired, live: undefined, repair }));
  await expect(applyPending(run, plan)).rejects.toThrow(OwnershipRefusal);
  return {
    live: client.peek(restored.key) !== undefined,
    holder: run.parts.claims.otherHolder(restored.id, 'other'),
    records: run.parts.records.of('demo').map(({ key }) => key.name),
  };
}

test('a refused install takes back what it had created', async () => {
  expect(await afterRefusal('install')).toEqual({ live: false, holder: undefined, records: [] });
});

test('what is installed keeps what was put back before another repair was refused', async () => {
  const kept = { live: true, holder: 'demo', records: ['restored'] };
  expect(await afterRefusal('upgrade')).toEqual(kept);
});
