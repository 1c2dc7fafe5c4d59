import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { EventList } from '../../../test/helpers/event-list.ts';
import { FakeKubeClient } from '../../../test/helpers/fake-kube-client.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import type { HookProgress } from '../../contracts/hooks.ts';
import { ApiError, keyOf, type Resource } from '../../platform/kube/index.ts';
import { Inventory } from '../inventory/inventory.ts';
import { KindWatches } from '../kinds/kind-watches.ts';
import { OpenAPIDocuments } from '../kinds/openapi-documents.ts';
import { desiredObject } from '../objects/desired.ts';
import { OwnershipRefusal } from '../ownership/ownership-check.ts';
import { OwnerStates } from '../state/owner-states.ts';
import { Deletions } from '../write/deletions.ts';
import { ServerSideApply } from '../write/server-side-apply.ts';
import { HookRunner } from './hook-runner.ts';
import { HookWatch } from './hook-watch.ts';

const jobs: Resource = {
  group: 'batch',
  version: 'v1',
  kind: 'Job',
  plural: 'jobs',
  namespaced: true,
};
const key = { namespace: 'n', name: 'migrate' };
const owner = aStoredDeployment();
const complete = { conditions: [{ type: 'Complete', status: 'True' }] };

/**
 * An API server whose server-side apply creates, or replaces the object of a given UID, and that
 * deletes objects without pods at once.
 */
class ApplyingClient extends FakeKubeClient {
  override apply = async (_: Resource, object: KubernetesObject): Promise<KubernetesObject> => {
    const live = this.peek(keyOf(object));
    if (live !== undefined && live.metadata.uid === object.metadata.uid) return this.put(object);
    if (live !== undefined) throw new ApiError(409, { reason: 'Conflict' });
    const creationTimestamp = '2026-01-01T00:00:00Z';
    return this.put({ ...object, metadata: { ...object.metadata, creationTimestamp } });
  };
}

function aHook(policy?: string): KubernetesObject {
  const annotations = {
    'core.rukpak.io/hook': 'pre-install',
    ...(policy !== undefined && { 'core.rukpak.io/hook-delete-policy': policy }),
  };
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: { ...key, annotations } };
}

let client: ApplyingClient;
let clock: ManualClock;
let inventory: Inventory;
let watches: KindWatches;
let hooks: HookRunner;
let stop: AbortController;
let woken: string[];
let served: boolean;
let resource: Resource;

beforeEach(() => {
  stop = new AbortController();
  client = new ApplyingClient();
  woken = [];
  served = true;
  resource = jobs;
  startProcess();
});

/** A process that only knows the cluster. */
function startProcess(): void {
  const discovery = {
    invalidate: () => undefined,
    resourceFor: async () => (served ? resource : undefined),
    resourceForGroupKind: async () => jobs,
    namespacedResources: async () => [],
  };
  const { signal } = stop;
  const systemNamespace = 'rukpak-system';
  clock = new ManualClock();
  inventory = new Inventory();
  const owners = new OwnerStates(clock);
  const [events, logger, documents] = [new EventList(), silentLogger, new OpenAPIDocuments(client)];
  const options = { client, discovery, clock, logger, events, systemNamespace, signal, inventory };
  watches = new KindWatches(options);
  const apply = new ServerSideApply({ ...options, documents });
  const deletions = new Deletions(options);
  hooks = new HookRunner({ ...options, owners, apply, watches, deletions });
  inventory.subscribe(new HookWatch(owners, (name) => void woken.push(name)));
}

afterEach(() => stop.abort());

async function run(name: string, hook = aHook(), by = owner): Promise<HookProgress> {
  return await hooks.run({ owner: by, hook, run: name, signal: stop.signal });
}

async function remove(name: string): Promise<void> {
  await hooks.remove({ owner, hook: aHook(), run: name, signal: stop.signal });
}

function live(): KubernetesObject {
  const object = client.peek(key);
  if (object === undefined) throw new Error('the Job is gone');
  return object;
}

/** Changes it as the Job controller, or another manager, would. */
function change(fields: Partial<KubernetesObject>): void {
  client.put({ ...live(), ...fields });
}

/** Its run ends, and the watch tells of it. */
async function end(): Promise<void> {
  change({ status: complete });
  await expect.poll(() => inventory.get(jobs, key)?.object['status']).toEqual(complete);
}

describe('a hook', () => {
  test('is created as its deployment’s, and as no part of the applied set', async () => {
    expect(await run('a')).toEqual({ state: 'running', since: '2026-01-01T00:00:00Z' });
    expect(live().metadata).toMatchObject({
      labels: {
        'core.rukpak.io/owner-kind': 'BundleDeployment',
        'core.rukpak.io/owner-name': 'demo',
      },
      annotations: { 'core.rukpak.io/hook-run': 'a' },
      ownerReferences: [{ kind: 'BundleDeployment', name: 'demo', controller: true }],
    });
    expect(live().metadata.labels).not.toHaveProperty('applyset.kubernetes.io/part-of');
  });

  test('is found again, and wakes its owner when it has ended', async () => {
    await run('a');
    const { uid } = live().metadata;
    expect(await run('a')).toMatchObject({ state: 'running' });
    change({ status: complete });
    await expect.poll(() => woken).toEqual(['demo']);
    expect(await run('a')).toEqual({ state: 'succeeded' });
    expect(live().metadata.uid).toBe(uid);
  });

  test('whose pod cannot start says why, and so does one that waits for it', async () => {
    await run('a');
    change({ spec: { selector: { matchLabels: { 'controller-uid': 'x' } } } });
    const waiting = { reason: 'ImagePullBackOff', message: 'Back-off pulling image "none:1"' };
    const status = { containerStatuses: [{ name: 'main', state: { waiting } }] };
    const metadata = { namespace: 'n', name: 'migrate-x' };
    client.put({ apiVersion: 'v1', kind: 'Pod', metadata, status });
    const problem =
      'Pod migrate-x: container main: ImagePullBackOff: Back-off pulling image "none:1"';
    const asked = client.calls.length;
    expect(await run('a')).toMatchObject({ state: 'running', problem: undefined });
    expect(client.calls).toHaveLength(asked);
    clock.advance(10_000);
    expect(await run('a')).toMatchObject({ state: 'running', problem });
    expect(await run('b')).toMatchObject({ state: 'behind', other: { problem } });
  });

  test('is running also where its pods may not be read', async () => {
    await run('a');
    clock.advance(10_000);
    client.faults.get = [new ApiError(403, { reason: 'Forbidden' })];
    expect(await run('a')).toMatchObject({ state: 'running', problem: undefined });
  });

  test('is found by a process whose watch has not told of it', async () => {
    const hook = { owner, hook: aHook(), run: 'a', signal: stop.signal };
    await watches.ensure([jobs], stop.signal);
    await run('a');
    inventory.dropKind(jobs);
    expect(await hooks.run(hook)).toMatchObject({ state: 'running' });
  });

  test('that was deleted as soon as it had ended is not run again', async () => {
    await run('a');
    change({ status: complete });
    client.drop(key);
    await expect.poll(() => woken).toEqual(['demo', 'demo']);
    expect(await run('a')).toEqual({ state: 'succeeded' });
    expect(client.peek(key)).toBeUndefined();
  });

  test('of an earlier run goes first', async () => {
    await run('a');
    await end();
    expect(await run('b')).toEqual({ state: 'replacing' });
    await expect.poll(() => woken).toEqual(['demo', 'demo']);
    expect(await run('b')).toMatchObject({ state: 'running' });
    expect(live().metadata.annotations).toMatchObject({ 'core.rukpak.io/hook-run': 'b' });
  });

  test('of an earlier run goes first where a backup brought it back', async () => {
    await run('a');
    const { ownerReferences: _, annotations, ...metadata } = live().metadata;
    const mark = 'former-uid:batch/Job:n/migrate';
    const marked = { ...annotations, 'core.rukpak.io/tracking-id': mark };
    change({ metadata: { ...metadata, annotations: marked }, status: complete });
    await expect
      .poll(() => inventory.get(jobs, key)?.object.metadata.annotations)
      .toMatchObject({ 'core.rukpak.io/tracking-id': mark });
    expect(await run('b')).toEqual({ state: 'replacing' });
    await expect.poll(async () => await run('b')).toMatchObject({ state: 'running' });
    expect(live().metadata.annotations).toMatchObject({ 'core.rukpak.io/hook-run': 'b' });
  });

  test('of an earlier run is no copy of one', async () => {
    await run('a');
    const { ownerReferences: _, annotations, ...metadata } = live().metadata;
    const mark = 'former-uid:batch/Job:n/another';
    const marked = { ...annotations, 'core.rukpak.io/tracking-id': mark };
    client.drop(key);
    client.put({ ...aHook(), metadata: { ...metadata, annotations: marked } });
    await expect(run('b')).rejects.toThrow(OwnershipRefusal);
    expect(client.count('delete')).toBe(0);
  });

  test('that is still going is waited for', async () => {
    await run('a');
    const { metadata } = live();
    change({ metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:01Z' } });
    await expect
      .poll(() => inventory.get(jobs, key)?.object.metadata)
      .toHaveProperty('deletionTimestamp');
    expect(await run('b')).toMatchObject({ state: 'behind' });
    await end();
    expect(await run('b')).toEqual({ state: 'replacing' });
    expect(client.count('delete')).toBe(0);
  });

  test('of an earlier run stays where its policy does not say otherwise', async () => {
    await run('a');
    await end();
    await expect(run('b', aHook('hook-succeeded'))).rejects.toThrow(
      'Job/n/migrate is still there from before: delete it, or add before-hook-creation to its annotation core.rukpak.io/hook-delete-policy',
    );
    expect(live().metadata.annotations).toMatchObject({ 'core.rukpak.io/hook-run': 'a' });
  });

  test('changes nothing of somebody else’s', async () => {
    client.put({ apiVersion: 'batch/v1', kind: 'Job', metadata: key });
    const refused = run('a');
    await expect(refused).rejects.toThrow(OwnershipRefusal);
    await expect(refused).rejects.toThrow(
      'Job "migrate" in namespace "n" exists and cannot be imported into the current release: it has no owner',
    );
    expect(live().metadata.annotations).toBeUndefined();
  });

  test('takes the place of what its deployment adopts', async () => {
    client.put({ apiVersion: 'batch/v1', kind: 'Job', metadata: key });
    const { uid } = live().metadata;
    const annotations = { 'core.rukpak.io/adopt': 'Job/n/migrate' };
    const taker = { ...owner, metadata: { ...owner.metadata, annotations } };
    expect(await run('a', aHook(), taker)).toEqual({ state: 'replacing' });
    await expect.poll(() => woken).toContain('demo');
    await expect
      .poll(async () => await run('a', aHook(), taker))
      .toMatchObject({ state: 'running' });
    expect(live().metadata.uid).not.toBe(uid);
    expect(live().metadata.annotations).toMatchObject({ 'core.rukpak.io/hook-run': 'a' });
  });

  test('never replaces an object that is annotated to be kept', async () => {
    await run('a');
    const { annotations, ...metadata } = live().metadata;
    const kept = { ...metadata, annotations: { ...annotations, 'core.rukpak.io/keep': 'true' } };
    change({ metadata: kept, status: complete });
    await expect
      .poll(() => inventory.get(jobs, key)?.object.metadata.annotations)
      .toMatchObject({ 'core.rukpak.io/keep': 'true' });
    await expect(run('b')).rejects.toThrow(
      'Job/n/migrate is annotated to be kept, so core does not replace it by the hook. Rename the hook in the bundle, or delete the object yourself',
    );
    await remove('a');
    expect(client.count('delete')).toBe(0);
  });

  test('that its bundle keeps is replaced in each run', async () => {
    const hook = aHook();
    const annotations = { ...hook.metadata.annotations, 'helm.sh/resource-policy': 'keep' };
    const kept = { ...hook, metadata: { ...key, annotations } };
    await run('a', kept);
    await end();
    await run('b', kept);
    expect(client.count('delete')).toBe(1);
  });

  test('never replaces data that no hook has created', async () => {
    resource = { ...jobs, group: '', kind: 'PersistentVolumeClaim' };
    const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' };
    const context = { owner, systemNamespace: 'rukpak-system' };
    client.put(desiredObject({ ...claim, metadata: key }, resource, context).object);
    await expect(run('a', { ...aHook(), ...claim })).rejects.toThrow(
      'PersistentVolumeClaim/n/migrate may hold data and was not created by a hook, so core does not replace it by the hook. Rename the hook in the bundle, or delete the object yourself',
    );
    expect(client.count('delete')).toBe(0);
  });

  test('of a kind that nobody serves is refused after some tries', async () => {
    served = false;
    let outcome: unknown;
    const refused = run('a').catch((error: unknown) => {
      outcome = error;
    });
    await expect
      .poll(() => {
        clock.advance(200);
        return outcome;
      })
      .toMatchObject({
        message: 'the cluster does not serve kind Job of batch/v1: install its CRD first',
      });
    await refused;
  });
});

describe('while a hook of another run still runs', () => {
  const former = { namespace: 'n', name: 'migrate-1' };
  const since = '2026-01-01T00:00:00Z';
  const other = { hook: 'pre-upgrade hook Job/n/migrate-1 of Bundle "demo-1"', since };
  const behind = { state: 'behind', other };

  async function runFormer(at = former, by = owner): Promise<void> {
    const hook = { ...aHook(), metadata: { ...aHook().metadata, ...at } };
    const request = { owner: by, hook, run: 'pre-upgrade 1', bundle: 'demo-1' };
    await hooks.run({ ...request, signal: stop.signal });
  }

  function endFormer(): void {
    const object = client.peek(former);
    if (object === undefined) throw new Error('the Job is gone');
    client.put({ ...object, status: complete });
  }

  test('a hook with another name is not created before its end, which wakes the owner', async () => {
    await runFormer();
    expect(await run('pre-upgrade 2')).toEqual(behind);
    expect(client.peek(key)).toBeUndefined();
    expect(woken).toEqual([]);
    endFormer();
    await expect.poll(() => woken).toEqual(['demo']);
    expect(await run('pre-upgrade 2')).toMatchObject({ state: 'running' });
  });

  test('one with the same name does not end it', async () => {
    await runFormer(key);
    const { uid } = live().metadata;
    expect(await run('pre-upgrade 2')).toMatchObject({ state: 'behind' });
    expect(await run('pre-upgrade 1 1')).toMatchObject({ state: 'behind' });
    expect(live().metadata.uid).toBe(uid);
    expect(client.count('delete')).toBe(0);
  });

  test('its deletion wakes the owner too', async () => {
    await runFormer();
    await run('pre-upgrade 2');
    client.drop(former);
    await expect.poll(() => woken).toEqual(['demo']);
    expect(await run('pre-upgrade 2')).toMatchObject({ state: 'running' });
  });

  test('a process that did not watch its kind finds it', async () => {
    await runFormer();
    startProcess();
    resource = { ...jobs, group: '', kind: 'ConfigMap', plural: 'configmaps' };
    const hook = { ...aHook(), apiVersion: 'v1', kind: 'ConfigMap' };
    const by = { ...owner, status: { groupKinds: ['ConfigMap', 'Job.batch'] } };
    expect(await run('pre-upgrade 2', hook, by)).toEqual(behind);
  });

  test('one that runs by now goes on', async () => {
    await run('pre-upgrade 2');
    const { metadata, ...rest } = live();
    const annotations = { ...metadata.annotations, 'core.rukpak.io/hook-run': 'pre-upgrade 1' };
    const mark = metadata.annotations?.['core.rukpak.io/tracking-id']?.replace(
      /migrate$/,
      former.name,
    );
    const marked = { ...annotations, 'core.rukpak.io/tracking-id': mark ?? '' };
    client.put({ ...rest, metadata: { ...metadata, ...former, uid: 'f', annotations: marked } });
    await expect.poll(() => inventory.get(jobs, former)).toBeDefined();
    expect(await run('pre-upgrade 2')).toMatchObject({ state: 'running' });
  });

  test('a look-alike in a namespace of others keeps nobody waiting', async () => {
    await runFormer({ ...former, namespace: 'others' });
    expect(await run('pre-upgrade 2')).toMatchObject({ state: 'running' });
  });

  const search = { owner, namespaces: new Set(['n']) };

  test('it is found without a hook that waits for it, and its end wakes the owner', async () => {
    await runFormer();
    stop.abort();
    stop = new AbortController();
    startProcess();
    const by = { ...owner, status: { groupKinds: ['Job.batch'] } };
    const { signal } = stop;
    expect(await hooks.running({ ...search, owner: by, signal })).toEqual(other);
    endFormer();
    await expect.poll(() => woken).toEqual(['demo']);
    expect(await hooks.running({ ...search, owner: by, signal })).toBeUndefined();
  });

  test('it is found where this process has created it, and no look-alike elsewhere', async () => {
    await runFormer({ ...former, namespace: 'others' });
    const { signal } = stop;
    expect(await hooks.running({ ...search, signal })).toMatchObject({
      hook: 'pre-upgrade hook Job/others/migrate-1 of Bundle "demo-1"',
    });
    startProcess();
    const by = { ...owner, status: { groupKinds: ['Job.batch'] } };
    expect(await hooks.running({ ...search, owner: by, signal })).toBeUndefined();
  });

  test('one of an earlier version of core has no Bundle', async () => {
    await run('pre-install 1');
    expect(await run('pre-install 2')).toEqual({
      state: 'behind',
      other: { hook: 'pre-install hook Job/n/migrate of an earlier version', since },
    });
  });
});

describe('removing a hook', () => {
  test('deletes it in any of its tries', async () => {
    await run('a 2');
    await remove('a');
    expect(client.peek(key)).toBeUndefined();
  });

  test.each(['ab', 'a#2'])('leaves that of another run, %s', async (other) => {
    await run(other);
    await remove('a');
    expect(client.peek(key)).toBeDefined();
  });

  test('asks for nothing where its kind is gone', async () => {
    await run('a');
    served = false;
    await remove('a');
    expect(client.count('delete')).toBe(0);
  });
});

describe('a hook that Kubernetes deletes some time after its end', () => {
  const hook = { ...aHook(), spec: { ttlSecondsAfterFinished: 60, backoffLimit: 2 } };

  async function expire(name: string, of: KubernetesObject = hook): Promise<void> {
    await hooks.expire({ owner, hook: of, run: name, signal: stop.signal });
  }

  test('is deleted by it only after core has noted that end', async () => {
    await run('a', hook);
    expect(live()['spec']).toEqual({ backoffLimit: 2 });
    await end();
    await expire('a');
    const patch = { spec: { ttlSecondsAfterFinished: 60 } };
    expect(client.patches).toMatchObject([{ name: 'migrate', patch }]);
  });

  test('is left as it is where it is that of another run, or says nothing of the kind', async () => {
    await run('b', hook);
    await expire('a');
    await expire('b', aHook());
    expect(live()['spec']).toEqual({ backoffLimit: 2 });
    expect(client.count('patch')).toBe(0);
  });

  test('may be deleted by others meanwhile', async () => {
    await run('a', hook);
    client.patch = async () => {
      throw new ApiError(404, { reason: 'NotFound' });
    };
    await expect(expire('a')).resolves.toBeUndefined();
  });

  test('keeps a field of that name where it is no Job', async () => {
    resource = { ...jobs, group: 'example.com', kind: 'Flow', plural: 'flows' };
    await run('a', { ...hook, apiVersion: 'example.com/v1', kind: 'Flow' });
    expect(live()['spec']).toEqual(hook.spec);
  });
});

describe('a hook that is a container of others’ objects', () => {
  const place = { name: 'shop' };
  const kinds = [
    ['v1', 'Namespace'],
    ['apiextensions.k8s.io/v1', 'CustomResourceDefinition'],
  ] as const;

  function aContainer(apiVersion: string, kind: string): KubernetesObject {
    const [group = ''] = apiVersion.includes('/') ? apiVersion.split('/') : [];
    resource = { group, version: 'v1', kind, plural: `${kind.toLowerCase()}s`, namespaced: false };
    const { annotations = {} } = aHook('before-hook-creation,hook-succeeded').metadata;
    return { apiVersion, kind, metadata: { ...place, annotations } };
  }

  test.each(kinds)('%s %s is applied anew by the next run, and never deleted', async (...kind) => {
    const hook = aContainer(...kind);
    await run('a', hook);
    const { uid } = client.peek(place)?.metadata ?? {};
    expect(await run('b', hook)).toEqual({ state: 'succeeded' });
    await hooks.remove({ owner, hook, run: 'b', signal: stop.signal });
    expect(client.peek(place)?.metadata).toMatchObject({
      uid,
      annotations: { 'core.rukpak.io/hook-run': 'b' },
    });
    expect(client.count('delete')).toBe(0);
  });

  test.each(kinds)('%s %s is not left to the garbage collector', async (...kind) => {
    await run('a', aContainer(...kind));
    expect(client.peek(place)?.metadata.ownerReferences).toBeUndefined();
  });

  test('Namespace that exists is used as it is', async () => {
    const hook = aContainer('v1', 'Namespace');
    client.put({ apiVersion: 'v1', kind: 'Namespace', metadata: place });
    expect(await run('a', hook)).toEqual({ state: 'succeeded' });
    expect(client.peek(place)?.metadata.labels).toBeUndefined();
  });
});

describe('a claim of a hook', () => {
  const claim = { ...aHook(), apiVersion: 'v1', kind: 'PersistentVolumeClaim' };

  async function runAgain(change: (metadata: KubernetesObject['metadata']) => object) {
    resource = { ...jobs, group: '', kind: 'PersistentVolumeClaim' };
    await run('a', claim);
    const { metadata } = live();
    const { uid } = client.put({
      ...live(),
      metadata: { ...metadata, ...change(metadata) },
    }).metadata;
    await expect
      .poll(() => inventory.get(resource, key)?.object.metadata.resourceVersion)
      .not.toBe(metadata.resourceVersion);
    expect(await run('b', claim)).toEqual({ state: 'succeeded' });
    expect(live().metadata.annotations).toMatchObject({ 'core.rukpak.io/hook-run': 'b' });
    return live().metadata.uid === uid;
  }

  test('that an earlier deployment left is applied anew, and keeps its data', async () => {
    const leftBy = { 'core.rukpak.io/hook-run': 'a', 'core.rukpak.io/left-by': 'demo' };
    expect(await runAgain(() => ({ labels: {}, annotations: leftBy }))).toBe(true);
    expect(client.count('delete')).toBe(0);
  });

  test('of an earlier run of the same deployment is replaced', async () => {
    expect(await runAgain(() => ({ finalizers: [] }))).toBe(false);
  });
});

test('what a hook makes after everything is removed is left to the garbage collector', async () => {
  resource = { ...jobs, group: '', kind: 'PersistentVolumeClaim' };
  const claim = { ...aHook(), apiVersion: 'v1', kind: 'PersistentVolumeClaim' };
  await run('post-delete x', claim);
  expect(live().metadata.ownerReferences).toMatchObject([{ name: 'demo', controller: true }]);
});
