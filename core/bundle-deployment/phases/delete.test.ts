import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import type {
  BundleDeployment,
  BundleDeploymentSpec,
  BundleDeploymentStatus,
} from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentCRD } from '../../../api/v1alpha1/crd.ts';
import {
  aBundleOf,
  BundleDeploymentFixture,
  nameOf,
  v1,
  v2,
} from '../../../test/helpers/bundle-deployment-fixture.ts';
import { anObject } from '../../../test/helpers/registry-bundle.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import type { Logger } from '../../contracts/logger.ts';
import { TerminalError } from '../../errors.ts';
import { ApiError } from '../../platform/kube/index.ts';

const deleteObjects = 'core.rukpak.io/delete-objects';
const deletionTimestamp = '2026-01-01T00:00:00Z';
const unpacked = { phase: 'Unpacked' };

interface Given {
  readonly name?: string;
  readonly spec?: Partial<BundleDeploymentSpec>;
  readonly metadata?: object;
}

function aDeployment({ name = 'demo', spec, metadata }: Given = {}): BundleDeployment {
  const deployment = aStoredDeployment({ name, metadata: { ...metadata } });
  return { ...deployment, spec: { ...deployment.spec, ...spec } };
}

function dependingOn(name: string, ...names: readonly string[]): BundleDeployment {
  return aDeployment({ name, spec: { dependsOn: names.map((each) => ({ name: each })) } });
}

function aDeleted(spec: Given['spec'] = {}): BundleDeployment {
  return aDeployment({ spec, metadata: { deletionTimestamp, finalizers: [deleteObjects] } });
}

function finalizersOf({ live }: BundleDeploymentFixture): readonly string[] {
  return live.metadata.finalizers ?? [];
}

function installedFixture(
  given: Given = {},
  replaced: ConstructorParameters<typeof BundleDeploymentFixture>[1] = {},
): BundleDeploymentFixture {
  const fixture = new BundleDeploymentFixture(aDeployment(given), replaced);
  fixture.have(aBundleOf(undefined, unpacked));
  return fixture;
}

describe('the finalizer', () => {
  test('is on no deployment of which nothing was applied', async () => {
    const fixture = new BundleDeploymentFixture(aDeployment({ metadata: { finalizers: [] } }));
    await fixture.reconcile();
    expect(finalizersOf(fixture)).toEqual([]);
  });

  test('comes back first where core has applied something, before its Bundle is', async () => {
    const labels = { 'applyset.kubernetes.io/id': 'applyset-x-v1' };
    const fixture = new BundleDeploymentFixture(
      aDeployment({ metadata: { finalizers: [], labels } }),
    );
    await fixture.reconcile();
    expect(finalizersOf(fixture)).toEqual([deleteObjects]);
  });

  test('stays, and so do those of others', async () => {
    const metadata = { finalizers: ['example.com/theirs', deleteObjects] };
    const fixture = installedFixture({ metadata });
    await fixture.reconcile();
    expect(finalizersOf(fixture)).toEqual(['example.com/theirs', deleteObjects]);
  });
});

test('a deployment that is gone is not applied again when the watch lags behind', async () => {
  const fixture = installedFixture();
  const before = fixture.live;
  const metadata = { ...before.metadata, deletionTimestamp };
  const deleted = fixture.client.put({ ...before, metadata }) as BundleDeployment;
  // Core learns of the deletion from the response to a write of its own.
  fixture.deployments.upsertIfNewer(deleted);
  await fixture.reconcile();
  expect(fixture.applier.remove).toHaveBeenCalledOnce();
  fixture.deployments.upsert(before);
  await fixture.reconcile();
  expect(fixture.applier.apply).not.toHaveBeenCalled();
});

test('a deployment whose deletion an answer shows is neither upgraded nor given hooks any more', async () => {
  const fixture = installedFixture();
  await fixture.reconcile();
  fixture.applier.apply.mockClear();
  const hook = anObject('Job', {
    name: 'migrate',
    annotations: { 'core.rukpak.io/hook': 'pre-upgrade' },
  });
  fixture.handler.mockImplementation(async () => {
    const { live } = fixture;
    fixture.client.put({ ...live, metadata: { ...live.metadata, deletionTimestamp } });
    return [anObject('ConfigMap'), hook];
  });
  fixture.have(aBundleOf(v2));
  fixture.changeSpec({ template: v2 });
  expect(await fixture.failure()).toMatchObject({ name: 'OutdatedOwnerError' });
  expect(fixture.applier.apply).not.toHaveBeenCalled();
  expect(fixture.applier.runHook).not.toHaveBeenCalled();
});

describe('a deployment that the API server deletes in spite of its finalizer', () => {
  test('loses its objects before one of the same name is applied', async () => {
    const fixture = installedFixture();
    const { remove, apply } = fixture.applier;
    const { uid } = fixture.live.metadata;
    fixture.vanish();
    fixture.change(aDeployment({ metadata: { uid: 'another' } }));
    const waitsFor = { message: 'Waiting', since: fixture.clock.monotonic() };
    remove.mockResolvedValueOnce({ waitsFor });
    expect(await fixture.reconcile()).toEqual({ requeueAfter: 2_000 });
    expect(remove.mock.lastCall?.[0]).toMatchObject({ owner: { metadata: { uid } } });
    expect(apply).not.toHaveBeenCalled();
    await fixture.reconcile();
    expect(remove).toHaveBeenCalledTimes(2);
    expect(apply.mock.lastCall?.[0].owner.metadata.uid).toBe('another');
    await fixture.reconcile();
    expect(remove).toHaveBeenCalledTimes(2);
  });

  test('keeps them where somebody has taken the finalizer off, or where it was restored', async () => {
    const without = installedFixture({ metadata: { finalizers: [] } });
    without.vanish();
    await without.reconcile();
    expect(without.applier.remove).not.toHaveBeenCalled();
    const restored = installedFixture();
    const before = restored.live;
    restored.vanish();
    restored.change(before);
    await restored.reconcile();
    expect(restored.applier.remove).not.toHaveBeenCalled();
    expect(restored.applier.apply).toHaveBeenCalled();
  });

  test('loses them also where the leader of that moment has ended', async () => {
    const next = installedFixture();
    next.vanish();
    next.clock.advance(30_000);
    await next.reconcile();
    expect(next.applier.remove).toHaveBeenCalledOnce();
  });

  test('keeps what a process finds that begins to lead long after it', async () => {
    const info = vi.fn<Logger['info']>();
    const warn = vi.fn<Logger['warn']>();
    const next = installedFixture({}, { logger: { ...silentLogger, info, warn } });
    next.vanish();
    expect(warn).not.toHaveBeenCalled();
    next.clock.advance(3_600_000);
    await next.reconcile();
    next.change(aDeployment({ metadata: { uid: 'another' } }));
    await next.reconcile();
    expect(next.applier.remove).not.toHaveBeenCalled();
    expect(next.applier.apply).toHaveBeenCalledOnce();
    expect(warn).not.toHaveBeenCalled();
    expect(info.mock.calls).toEqual([[{ bundleDeployment: 'demo' }, expect.any(String)]]);
  });

  test('loses them where this process leads, however long the deletion waits', async () => {
    const warn = vi.fn<Logger['warn']>();
    const leader = installedFixture({}, { logger: { ...silentLogger, warn } });
    await leader.reconcile();
    leader.vanish();
    leader.clock.advance(3_600_000);
    leader.applier.remove.mockRejectedValueOnce(new Error('refused'));
    await leader.failure();
    await leader.reconcile();
    expect(leader.applier.remove).toHaveBeenCalledTimes(2);
    expect(warn).toHaveBeenCalledOnce();
  });
});

describe('a deleted deployment', () => {
  let fixture: BundleDeploymentFixture;

  beforeEach(() => {
    fixture = new BundleDeploymentFixture(aDeleted());
  });

  test('goes when its objects are gone, without another status', async () => {
    await fixture.reconcile();
    expect(finalizersOf(fixture)).toEqual([]);
    expect(fixture.applier.remove.mock.lastCall?.[0].owner.metadata.name).toBe('demo');
    expect(fixture.applier.forget).toHaveBeenCalledWith('demo');
    expect(fixture.client.calls).toEqual(['get', 'list', 'patch']);
    expect(fixture.applier.apply).not.toHaveBeenCalled();
  });

  test('goes by its policy, and leaves all where the garbage collector was told to', async () => {
    const policyOf = async (deployment: BundleDeployment, ...items: Bundle[]) => {
      fixture = new BundleDeploymentFixture(deployment);
      const list = { metadata: { resourceVersion: '1' }, items };
      vi.spyOn(fixture.client, 'list').mockResolvedValue(list);
      await fixture.reconcile();
      return fixture.applier.remove.mock.lastCall?.[0].policy;
    };
    expect(await policyOf(aDeleted(), aBundleOf())).toBe('Delete');
    expect(await policyOf(aDeleted({ deletionPolicy: 'KeepCRDs' }), aBundleOf())).toBe('KeepCRDs');
    expect(await policyOf(aDeleted({ deletionPolicy: 'Orphan' }))).toBe('Orphan');
    const orphaned = aBundleOf(undefined, unpacked, { ownerReferences: [] });
    expect(await policyOf(aDeleted(), orphaned)).toBe('Orphan');
    const late = aDeleted();
    const creationTimestamp = '2026-01-01T00:00:00Z';
    const recreated = { ...late, metadata: { ...late.metadata, creationTimestamp } };
    expect(await policyOf(recreated, orphaned)).toBe('Delete');
    const annotations = { 'core.rukpak.io/adopted-by': 'uid-of-demo' };
    const adopted = { ...orphaned, metadata: { ...orphaned.metadata, annotations } };
    expect(await policyOf(recreated, adopted)).toBe('Orphan');
    const owned = aBundleOf(undefined, unpacked, { annotations });
    expect(await policyOf(recreated, owned)).toBe('Delete');
    const uid = 'uid-of-the-bundle';
    const applied = { bundle: nameOf(), uid, rendering: 'r' };
    const installed = { ...orphaned, metadata: { ...orphaned.metadata, uid } };
    expect(await policyOf({ ...recreated, status: { applied } }, installed)).toBe('Orphan');
    const metadata = { deletionTimestamp, finalizers: [deleteObjects, 'orphan'] };
    expect(await policyOf(aDeployment({ metadata }), aBundleOf())).toBe('Orphan');
  });

  test('leaves all where the garbage collector was told to, though core made another Bundle meanwhile', async () => {
    const deletedAt = '2026-01-01T00:10:00Z';
    const deleted = aDeleted();
    const deployment = {
      ...deleted,
      metadata: { ...deleted.metadata, deletionTimestamp: deletedAt },
      spec: { ...deleted.spec, template: v2 },
      status: { activeBundle: nameOf(v1) },
    };
    const made = (template: typeof v1, minute: number, owners?: readonly []) =>
      aBundleOf(template, unpacked, {
        creationTimestamp: `2026-01-01T00:${minute}:00Z`,
        ...(owners && { ownerReferences: [] }),
      });
    const policyOf = async (...items: Bundle[]) => {
      fixture = new BundleDeploymentFixture(deployment);
      const list = { metadata: { resourceVersion: '1' }, items };
      vi.spyOn(fixture.client, 'list').mockResolvedValue(list);
      await fixture.reconcile();
      return fixture.applier.remove.mock.lastCall?.[0].policy;
    };
    expect(await policyOf(made(v1, 5, []), made(v2, 10))).toBe('Orphan');
    expect(await policyOf(made(v1, 5), made(v2, 10))).toBe('Delete');
    expect(await policyOf(made(v2, 10))).toBe('Delete');
    expect(await policyOf(made(v1, 10, []))).toBe('Orphan');
    expect(await policyOf(made(v1, 5, []), made(v2, 9))).toBe('Delete');
  });

  test('goes by the default of the cluster where it has no policy', async () => {
    const policyOf = async (deployment: BundleDeployment) => {
      fixture = new BundleDeploymentFixture(deployment, { defaultDeletionPolicy: 'KeepCRDs' });
      await fixture.reconcile();
      return fixture.applier.remove.mock.lastCall?.[0].policy;
    };
    expect(await policyOf(aDeleted())).toBe('KeepCRDs');
    expect(await policyOf(aDeleted({ deletionPolicy: 'Delete' }))).toBe('Delete');
  });

  test('goes, though a backup brought back an earlier Bundle without its owner', async () => {
    const history = [
      { revision: 1, bundle: nameOf(v1) },
      { revision: 2, bundle: nameOf(v2) },
    ];
    const status = { activeBundle: nameOf(v2), history } as BundleDeploymentStatus;
    const deleted = aDeleted();
    fixture = new BundleDeploymentFixture({
      ...deleted,
      spec: { ...deleted.spec, template: v2 },
      status,
    });
    const restored = aBundleOf(v1, unpacked, { ownerReferences: [] });
    const items = [restored, aBundleOf(v2)];
    const list = { metadata: { resourceVersion: '1' }, items };
    vi.spyOn(fixture.client, 'list').mockResolvedValue(list);
    await fixture.reconcile();
    expect(fixture.applier.remove.mock.lastCall?.[0].policy).toBe('Delete');
  });

  test("leaves all objects unchanged when core's CRD is being deleted or is deleted, and reports that", async () => {
    const name = 'bundledeployments.core.rukpak.io';
    const policyOf = async (definition?: KubernetesObject) => {
      fixture = new BundleDeploymentFixture(aDeleted());
      if (definition === undefined) fixture.client.drop({ name });
      else fixture.client.put(definition);
      await fixture.reconcile();
      return fixture.applier.remove.mock.lastCall?.[0].policy;
    };
    const crd = bundleDeploymentCRD();
    expect(await policyOf(crd)).toBe('Delete');
    expect(fixture.events.taken()).toEqual([]);
    expect(await policyOf({ ...crd, metadata: { name, deletionTimestamp } })).toBeUndefined();
    expect(finalizersOf(fixture)).toEqual([]);
    expect(fixture.events.taken()).toEqual([
      `Normal ObjectsOrphaned: CRD ${name} is being deleted, so core leaves all objects of this BundleDeployment unchanged. To manage them again, restore the CRD and the BundleDeployment`,
    ]);
    expect(await policyOf(undefined)).toBeUndefined();
    expect(finalizersOf(fixture)).toEqual([]);
  });

  test('waits while core cannot tell whether our CRD is being deleted', async () => {
    fixture.client.faults.get = [new Error('customresourcedefinitions is forbidden')];
    await fixture.failure();
    expect(fixture.conditions.join()).toContain(
      'core cannot tell whether CRD bundledeployments.core.rukpak.io is being deleted, and needs the verb get for it: customresourcedefinitions is forbidden',
    );
    expect(fixture.applier.remove).not.toHaveBeenCalled();
    expect(finalizersOf(fixture)).toEqual([deleteObjects]);
  });

  test('says why its finalizer stays, unless somebody has just changed the deployment', async () => {
    fixture.client.faults.patch = [new ApiError(409, { reason: 'Conflict' })];
    await fixture.failure();
    expect(fixture.conditions).toEqual([]);
    const message = 'a policy says no';
    fixture.client.faults.patch = [new ApiError(403, { reason: 'Forbidden', message })];
    await fixture.failure();
    expect(fixture.conditions).toEqual([
      `Progressing False Deleting: deletion failed, core retries it: ${message}`,
    ]);
    expect(fixture.wakeAfter).toBe(60_000);
    expect(finalizersOf(fixture)).toEqual([deleteObjects]);
    await fixture.reconcile();
    expect(finalizersOf(fixture)).toEqual([]);
  });

  test('that waits a moment says nothing; that waits longer says for what', async () => {
    const waitsFor = {
      message: 'Waiting for ConfigMap/n/a to be deleted',
      since: fixture.clock.monotonic(),
    };
    fixture.applier.remove.mockResolvedValue({ waitsFor });
    expect(await fixture.reconcile()).toEqual({ requeueAfter: 2000 });
    expect(fixture.conditions).toEqual([]);
    fixture.clock.advance(2000);
    expect(await fixture.reconcile()).toEqual({});
    const told = 'Progressing False Deleting: Waiting for ConfigMap/n/a to be deleted';
    expect(fixture.conditions).toEqual([told]);
    const fresh = { message: 'deletion waits for b', since: fixture.clock.monotonic() };
    fixture.applier.remove.mockResolvedValue({ waitsFor: fresh });
    await fixture.reconcile();
    expect(fixture.conditions).toEqual(['Progressing False Deleting: deletion waits for b']);
    expect(finalizersOf(fixture)).toEqual([deleteObjects]);
  });

  test('whose objects cannot be deleted says why, and is tried again', async () => {
    fixture.applier.remove.mockRejectedValue(new Error('cannot delete ConfigMap "n/a": forbidden'));
    const message = 'deletion failed, core retries it: cannot delete ConfigMap "n/a": forbidden';
    expect(await fixture.failure()).toMatchObject({ name: 'Error', message });
    expect(fixture.conditions).toEqual([`Progressing False Deleting: ${message}`]);
    expect(fixture.wakeAfter).toBe(60_000);
    expect(finalizersOf(fixture)).toEqual([deleteObjects]);
  });

  test('whose account lacks permissions has them in the condition and in a Warning Event', async () => {
    const message = 'ServiceAccount "deployer" in namespace "team" lacks permissions';
    const reason = 'PermissionsMissing';
    fixture.applier.remove.mockRejectedValue(new TerminalError(message, { reason }));
    // An ordinary error: core retries it.
    expect(await fixture.failure()).toMatchObject({ name: 'Error', message });
    expect(fixture.conditions).toEqual([`Progressing False PermissionsMissing: ${message}`]);
    expect(fixture.events.taken()).toEqual([`Warning PermissionsMissing: ${message}`]);
    expect(fixture.wakeAfter).toBe(60_000);
    expect(finalizersOf(fixture)).toEqual([deleteObjects]);
  });

  test('waits for what depends on it', async () => {
    fixture.deployments.upsert(dependingOn('app', 'demo'));
    await fixture.reconcile();
    expect(fixture.conditions).toEqual([
      'Progressing False WaitingForDependents: deletion waits for BundleDeployment app, which depends on it: ' +
        'delete it too, or take this one out of its spec.dependsOn',
    ]);
    for (const name of ['b', 'c', 'd']) fixture.deployments.upsert(dependingOn(name, 'demo'));
    await fixture.reconcile();
    expect(fixture.conditions).toEqual([
      'Progressing False WaitingForDependents: deletion waits for BundleDeployments app, b, c and 1 more, ' +
        'which depend on it: delete them too, or take this one out of their spec.dependsOn',
    ]);
    expect(fixture.applier.remove).not.toHaveBeenCalled();
  });

  test('waits for nobody who waits for it: of a cycle, and of itself, one has to go first', async () => {
    fixture = new BundleDeploymentFixture(
      aDeleted({ dependsOn: [{ name: 'app' }, { name: 'demo' }] }),
    );
    fixture.deployments.upsert(dependingOn('app', 'middle'));
    fixture.deployments.upsert(dependingOn('middle', 'demo'));
    await fixture.reconcile();
    expect(finalizersOf(fixture)).toEqual([]);
  });

  test('of a class that nobody serves is not touched', async () => {
    fixture = new BundleDeploymentFixture(aDeleted({ provisionerClassName: 'nobody' }));
    await fixture.reconcile();
    expect(fixture.client.calls).toEqual([]);
    expect(fixture.applier.remove).not.toHaveBeenCalled();
  });

  test('that has no finalizer of ours is left to the garbage collector', async () => {
    const metadata = { deletionTimestamp, finalizers: ['foregroundDeletion'] };
    fixture = new BundleDeploymentFixture(aDeployment({ metadata }));
    await fixture.reconcile();
    expect(fixture.client.calls).toEqual([]);
    expect(fixture.applier.forget).toHaveBeenCalledWith('demo');
  });
});

test('deletions that wait to be confirmed are in the status until they no longer do', async () => {
  const fixture = installedFixture();
  const heldPrune = { digest: 'd', reason: 'r', count: 0, objects: [] };
  const blocked = { reason: 'PruneHeld', message: 'm' };
  fixture.applier.apply.mockResolvedValue({ changes: 1, complete: true, blocked, heldPrune });
  await fixture.reconcile();
  expect(fixture.status).toMatchObject({ activeBundle: aBundleOf().metadata.name, heldPrune });
  expect(fixture.conditions).toContain('Progressing False PruneHeld: m');
  fixture.applier.apply.mockResolvedValue({ changes: 1, complete: true });
  await fixture.reconcile();
  expect(fixture.status).not.toHaveProperty('heldPrune');
  expect(fixture.conditions.join()).not.toContain('Progressing');
});

describe('a deleted deployment of a class that this process does not serve', () => {
  const className = 'another';

  function anUnserved(given: Given & { readonly status?: BundleDeploymentStatus } = {}) {
    const metadata = { deletionTimestamp, finalizers: [deleteObjects], ...given.metadata };
    const { status = {} } = given;
    const deployment = aStoredDeployment({ className, metadata, status });
    return new BundleDeploymentFixture(deployment, { endsUnserved: true });
  }

  async function afterGrace(fixture: BundleDeploymentFixture): Promise<void> {
    expect(await fixture.reconcile()).toEqual({ requeueAfter: 30_000 });
    expect(fixture.client.calls).toEqual([]);
    fixture.clock.advance(30_000);
    await fixture.reconcile();
  }

  test('goes with its objects where nobody has been at it for 30 s', async () => {
    const fixture = anUnserved();
    await afterGrace(fixture);
    expect(fixture.applier.remove).toHaveBeenCalledTimes(1);
    expect(finalizersOf(fixture)).toEqual([]);
    expect(fixture.events.taken()).toEqual([
      'Warning ClassNotServed: no process serves class "another": core deletes the objects without it',
    ]);
  });

  test('reports what it waits for, and continues after a restart', async () => {
    const fixture = anUnserved();
    const waitsFor = { message: 'Waiting for ConfigMap/a to be deleted', since: -5_000 };
    fixture.applier.remove.mockResolvedValue({ waitsFor });
    await afterGrace(fixture);
    expect(fixture.conditions).toEqual([
      'Progressing False Deleting: no process serves class "another": Waiting for ConfigMap/a to be deleted',
    ]);
    const restarted = anUnserved({ status: fixture.status });
    await afterGrace(restarted);
    expect(finalizersOf(restarted)).toEqual([]);
  });

  const begun = {
    type: 'Progressing',
    status: 'False',
    reason: 'Deleting',
    message: 'Waiting for ConfigMap/a to be deleted',
    lastTransitionTime: deletionTimestamp,
  } as const;
  const asking =
    'Progressing False Deleting: no process serves class "another": core continues the deletion in 30 s, unless a process that serves the class reports it first';

  /** A deletion that a process of the class has begun, when core asks for that process. */
  async function asked(): Promise<BundleDeploymentFixture> {
    const fixture = anUnserved({ status: { conditions: [begun] } });
    expect(await fixture.reconcile()).toEqual({ requeueAfter: 30_000 });
    expect(fixture.client.calls).toEqual([]);
    fixture.clock.advance(30_000);
    expect(await fixture.reconcile()).toEqual({ requeueAfter: 30_000 });
    expect(fixture.conditions).toEqual([asking]);
    expect(fixture.applier.remove).not.toHaveBeenCalled();
    return fixture;
  }

  test('is left to the process that answers, until a later question has no answer', async () => {
    const fixture = await asked();
    const answer = { conditions: [begun] };
    fixture.change({ ...fixture.live, status: answer });
    fixture.clock.advance(30_000);
    expect(await fixture.reconcile()).toEqual({ requeueAfter: 570_000 });
    expect(fixture.live.status).toEqual(answer);
    expect(fixture.applier.remove).not.toHaveBeenCalled();
    fixture.clock.advance(570_000);
    expect(await fixture.reconcile()).toEqual({ requeueAfter: 30_000 });
    expect(fixture.conditions).toEqual([asking]);
    fixture.clock.advance(30_000);
    await fixture.reconcile();
    expect(finalizersOf(fixture)).toEqual([]);
  });

  test('goes with its objects where its process has gone amid the deletion', async () => {
    const fixture = await asked();
    fixture.clock.advance(29_000);
    expect(await fixture.reconcile()).toEqual({ requeueAfter: 1_000 });
    fixture.clock.advance(1_000);
    await fixture.reconcile();
    expect(fixture.applier.remove).toHaveBeenCalledTimes(1);
    expect(finalizersOf(fixture)).toEqual([]);
  });

  test('waits for no hooks where its objects are orphaned', async () => {
    const status = { activeBundle: nameOf(), hooks: { onDelete: 1 } };
    const fixture = anUnserved({ status });
    fixture.change({ ...fixture.live, spec: { ...fixture.live.spec, deletionPolicy: 'Orphan' } });
    fixture.have(aBundleOf());
    await afterGrace(fixture);
    expect(fixture.applier.remove.mock.lastCall?.[0].policy).toBe('Orphan');
    expect(finalizersOf(fixture)).toEqual([]);
  });

  test('waits for no hooks where all have run', async () => {
    const at = '2026-01-01T00:00:00Z';
    const run = { event: 'pre-delete', revision: 'a', startedAt: at, completed: 1, finishedAt: at };
    const status = { activeBundle: nameOf(), hooks: { onDelete: 1, run } };
    const fixture = anUnserved({ status });
    fixture.have(aBundleOf());
    await afterGrace(fixture);
    expect(finalizersOf(fixture)).toEqual([]);
  });

  test('waits for the class where its deletion has hooks, and says how to go on without', async () => {
    const status = { activeBundle: nameOf(), hooks: { onDelete: 1 } };
    const fixture = anUnserved({ status });
    fixture.have(aBundleOf());
    await afterGrace(fixture);
    expect(finalizersOf(fixture)).toEqual([deleteObjects]);
    expect(fixture.conditions).toEqual([
      'Progressing False Deleting: no process serves class "another": only this class can render the hooks of the deletion. ' +
        'Start a process that serves it, or delete without hooks: kubectl annotate bundledeployment demo core.rukpak.io/skip-hooks=true',
    ]);
    const { metadata } = fixture.live;
    const annotations = { 'core.rukpak.io/skip-hooks': 'true' };
    fixture.change({ ...fixture.live, metadata: { ...metadata, annotations } });
    await fixture.reconcile();
    expect(finalizersOf(fixture)).toEqual([]);
  });
});
