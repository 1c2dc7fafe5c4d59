import { describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { aDesiredObject } from '../../test/helpers/desired-objects.ts';
import { EventList } from '../../test/helpers/event-list.ts';
import { FakeKubeClient } from '../../test/helpers/fake-kube-client.ts';
import { someHealthRules } from '../../test/helpers/in-process-judge.ts';
import { ManualClock } from '../../test/helpers/manual-clock.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import { aStoredDeployment } from '../../test/helpers/stored-objects.ts';
import { ApiError, keyOf, type Resource } from '../platform/kube/index.ts';
import { DriftDetector } from './drift/drift.ts';
import { Inventory } from './inventory/inventory.ts';
import { ApplySetParents } from './kinds/applyset-parent.ts';
import { Definitions } from './kinds/definitions.ts';
import { KindWatches } from './kinds/kind-watches.ts';
import { OpenAPIDocuments } from './kinds/openapi-documents.ts';
import type { DesiredObject } from './objects/desired.ts';
import { CoOwnership } from './ownership/co-ownership.ts';
import { OwnershipCheck, OwnershipRefusal } from './ownership/ownership-check.ts';
import { Transfers } from './ownership/transfers.ts';
import type { Run } from './plan/plan.ts';
import { SetWriter } from './set-writer.ts';
import { OwnerStates } from './state/owner-states.ts';
import { Deletions } from './write/deletions.ts';
import { ServerSideApply } from './write/server-side-apply.ts';
import { Writer } from './write/writer.ts';

/** An API server whose server-side apply only creates. */
class ApplyingClient extends FakeKubeClient {
  /** Name and UID of each applied object. */
  readonly asked: string[] = [];
  /** What admission makes of the metadata of a created object. */
  admitted = (metadata: KubernetesObject['metadata']) => metadata;

  override apply = async (_: Resource, object: KubernetesObject): Promise<KubernetesObject> => {
    const live = this.peek(keyOf(object));
    const { uid } = object.metadata;
    this.asked.push(`${object.metadata.name} ${uid}`);
    if (uid !== undefined && live === undefined) {
      throw new ApiError(409, { reason: 'Conflict', message: 'uid mismatch: no existing object' });
    }
    if (uid !== undefined && live?.metadata.uid !== uid) {
      const details = { causes: [{ field: 'metadata.uid', message: 'field is immutable' }] };
      throw new ApiError(422, { reason: 'Invalid', details });
    }
    if (uid !== undefined) return live as KubernetesObject;
    const isThere = live !== undefined;
    if (isThere) throw new ApiError(409, { reason: 'Conflict' });
    return this.put({ ...object, metadata: this.admitted(object.metadata) });
  };
}

function aConfigMap(name: string): DesiredObject {
  const metadata = { name, namespace: 'n' };
  return aDesiredObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
}

const [occupied, restored] = [aConfigMap('occupied'), aConfigMap('restored')];

const owners = new OwnerStates(new ManualClock());

function aWriter(client: ApplyingClient, events = new EventList()): SetWriter {
  const { signal } = new AbortController();
  const discovery = {
    invalidate: () => undefined,
    resourceFor: async () => undefined,
    resourceForGroupKind: async () => undefined,
    namespacedResources: async () => [],
  };
  const known = {
    client,
    discovery,
    clock: new ManualClock(),
    logger: silentLogger,
    events,
    systemNamespace: 'rukpak-system',
    signal,
    inventory: new Inventory(),
    owners,
    notify: () => undefined,
  };
  const drift = new DriftDetector({ ...known, rules: someHealthRules() });
  const apply = new ServerSideApply({ ...known, documents: new OpenAPIDocuments(client) });
  const coOwnership = new CoOwnership(known);
  return new SetWriter({
    ...known,
    drift,
    ownership: new OwnershipCheck(known),
    parents: new ApplySetParents(known),
    writer: new Writer({ ...known, apply, drift, coOwnership }),
    transfers: new Transfers(known),
    definitions: new Definitions(known),
    watches: new KindWatches(known),
    deletions: new Deletions(known),
  });
}

function aRun(client: ApplyingClient, operation: Run['operation']): Run {
  const owner = client.put(aStoredDeployment()) as BundleDeployment;
  const objects = [restored, occupied];
  const set = {
    objects,
    ids: new Set(objects.map(({ id }) => id)),
    resources: [occupied.resource],
    omitted: [],
    leftOut: [],
    isServed: () => true,
    presentAs: ({ resource }: DesiredObject) => resource,
  };
  return {
    owner,
    name: 'demo',
    state: owners.of('demo'),
    client,
    operation,
    set,
    earlier: [],
    waitForReady: false,
    foundationOnly: false,
    hooks: [],
    origin: {},
    unchanged: operation === 'upgrade',
    standsIn: false,
    signal: new AbortController().signal,
  };
}

/** What remains of a created object after the next one turned out to belong to others. */
async function afterRefusal(operation: Run['operation']) {
  owners.forget('demo');
  const client = new ApplyingClient();
  const metadata = { name: 'occupied', namespace: 'n' };
  client.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
  const run = aRun(client, operation);
  const repair = operation === 'upgrade';
  const plan = [restored, occupied].map((desired) => ({ desired, live: undefined, repair }));
  await expect(aWriter(client).write(run, plan)).rejects.toThrow(OwnershipRefusal);
  return {
    live: client.peek(restored.key) !== undefined,
    holder: owners.of('other').otherHolder(restored.id),
    records: run.state.records.map(({ key }) => key.name),
  };
}

test('a refused install takes back what it had created', async () => {
  expect(await afterRefusal('install')).toEqual({ live: false, holder: undefined, records: [] });
});

test('what is installed keeps what was put back before another repair was refused', async () => {
  const kept = { live: true, holder: 'demo', records: ['restored'] };
  expect(await afterRefusal('upgrade')).toEqual(kept);
});

describe('an upgrade', () => {
  /** What it applied, and whether it has begun. */
  async function upgraded({ isOccupied = false, noting = async () => {} }) {
    owners.forget('demo');
    const client = new ApplyingClient();
    const metadata = { name: 'occupied', namespace: 'n' };
    if (isOccupied) client.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
    let appliedBefore: number | undefined;
    const begin = async () => {
      appliedBefore = client.asked.length;
      await noting();
    };
    const run = { ...aRun(client, 'upgrade'), begin };
    const plan = [restored, occupied].map((desired) => ({
      desired,
      live: undefined,
      repair: false,
    }));
    const error = await aWriter(client)
      .write(run, plan)
      .then(
        () => undefined,
        (reason: unknown) => reason,
      );
    return { error, appliedBefore, applied: client.asked.length };
  }

  test('begins after its checks and before its first write', async () => {
    const begun = { error: undefined, appliedBefore: 0, applied: 2 };
    expect(await upgraded({})).toEqual(begun);
  });

  test('that is refused does not begin', async () => {
    const { error, ...found } = await upgraded({ isOccupied: true });
    expect(error).toBeInstanceOf(OwnershipRefusal);
    expect(found).toEqual({ appliedBefore: undefined, applied: 0 });
  });

  test('whose beginning cannot be noted writes nothing', async () => {
    const lost = new Error('connection reset');
    const noting = async () => await Promise.reject(lost);
    expect(await upgraded({ noting })).toEqual({ error: lost, appliedBefore: 0, applied: 0 });
  });
});

describe('a known object', () => {
  async function written(now: KubernetesObject['metadata'] | undefined) {
    owners.forget('demo');
    const client = new ApplyingClient();
    const run = aRun(client, 'upgrade');
    const { object } = restored;
    const live = { ...object, metadata: { ...object.metadata, uid: 'u1', resourceVersion: '1' } };
    if (now !== undefined) client.put({ ...live, metadata: { ...object.metadata, ...now } });
    const plan = [{ desired: restored, live, repair: false }];
    const result = await aWriter(client)
      .write(run, plan)
      .then(
        () => 'written',
        (error: unknown) => error,
      );
    return { result, asked: client.asked };
  }

  test('is applied by one request, bound to its UID', async () => {
    expect(await written({ uid: 'u1' })).toEqual({ result: 'written', asked: ['restored u1'] });
  });

  test('that somebody has deleted is created again', async () => {
    const asked = ['restored u1', 'restored undefined'];
    expect(await written(undefined)).toEqual({ result: 'written', asked });
  });

  test('that somebody has made anew is not overwritten', async () => {
    const { result, asked } = await written({ uid: 'u2', labels: {}, annotations: {} });
    expect(result).toBeInstanceOf(OwnershipRefusal);
    expect(asked).toEqual(['restored u1']);
  });
});

test('an object that a webhook stores without the labels is told of, and watched no less', async () => {
  owners.forget('demo');
  const [client, events] = [new ApplyingClient(), new EventList()];
  client.admitted = (metadata) => ({ ...metadata, labels: {} });
  const run = aRun(client, 'install');
  const plan = [{ desired: restored, live: undefined, repair: false }];
  await aWriter(client, events).write(run, plan);
  expect(events.list).toEqual([
    expect.objectContaining({ type: 'Warning', reason: 'MarksRemoved' }),
  ]);
  expect(run.state.records.map(({ key }) => key.name)).toEqual(['restored']);
});
