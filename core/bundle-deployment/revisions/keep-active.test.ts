import { beforeEach, describe, expect, test } from 'vitest';
import {
  aBundleOf,
  BundleDeploymentFixture,
  nameOf,
  objects,
  v1,
  v2,
  v3,
} from '../../../test/helpers/bundle-deployment-fixture.ts';
import { certifiedService } from '../../../test/helpers/certified-service.ts';
import { anObject, aTree } from '../../../test/helpers/registry-bundle.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { OutdatedOwnerError } from '../../apply/index.ts';
import type { ApplyRequest } from '../../contracts/applier.ts';
import { TerminalError } from '../../errors.ts';

const ofV2 = [anObject('ConfigMap', { name: 'of-v2' })];
const refusal = new TerminalError('ConfigMap "of-v2" belongs to somebody else');

let fixture: BundleDeploymentFixture;

/** Version 1 is installed, and core refuses the objects of version 2 before it writes any. */
beforeEach(async () => {
  fixture = aProcess(new BundleDeploymentFixture());
  await fixture.reconcile();
  refuse(refusal);
  fixture.have(aBundleOf(v2, { phase: 'Unpacked' }, { uid: 'second' }));
  fixture.changeSpec({ template: v2 });
  fixture.applier.apply.mockClear();
});

/** With the Bundle of version 1, and a class that renders what each Bundle is named after. */
function aProcess(process: BundleDeploymentFixture): BundleDeploymentFixture {
  process.load.mockImplementation(async ({ metadata: { name = '' } }) => aTree({ [name]: '' }));
  process.handler.mockImplementation(async ({ files }) => (files.has(nameOf(v2)) ? ofV2 : objects));
  process.have(aBundleOf(v1, { phase: 'Unpacked' }, { uid: 'first' }));
  return process;
}

function refuse(error: Error): void {
  fixture.check.mockImplementation(async (request) => {
    if (isOfV2(request)) throw error;
  });
}

function isOfV2(request: ApplyRequest): boolean {
  return request.objects.some(({ metadata }) => metadata.name === 'of-v2');
}

/** Names of the objects of each apply that was not refused. */
function applied(): readonly (readonly (string | undefined)[])[] {
  const requests = fixture.applier.apply.mock.calls.map(([request]) => request);
  fixture.applier.apply.mockClear();
  return requests.map((request) => request.objects.map(({ metadata }) => metadata.name));
}

/** Whether the set of each apply only stood in for another one. */
function standingIn(): readonly boolean[] {
  const requests = fixture.applier.apply.mock.calls.map(([request]) => request);
  return requests.map(({ standsIn }) => standsIn === true);
}

const ofV1 = objects.map(({ metadata }) => metadata.name);

test('an upgrade that is refused as a whole leaves the installed Bundle kept in place', async () => {
  expect(await fixture.failure()).toMatchObject({ message: refusal.message });
  expect(applied()).toEqual([ofV1]);
  expect(fixture.conditions.join()).toContain(`Installed False UpgradeFailed: ${refusal.message}`);
  expect(fixture.status).toMatchObject({ activeBundle: nameOf(v1), applied: { uid: 'first' } });
  expect(fixture.status.applied).not.toHaveProperty('begun');
  expect(fixture.status.applied).not.toHaveProperty('superseded');
});

test('and so in a process that only knows the status', async () => {
  await fixture.failure();
  fixture = aProcess(new BundleDeploymentFixture(fixture.live));
  fixture.have(aBundleOf(v2, { phase: 'Unpacked' }, { uid: 'second' }));
  refuse(refusal);
  await fixture.failure();
  expect(applied()).toEqual([ofV1]);
  fixture.check.mockReset();
  await fixture.reconcile();
  expect(applied()).toEqual([['of-v2']]);
  expect(fixture.status.activeBundle).toBe(nameOf(v2));
});

test('also where only the config has changed', async () => {
  fixture = new BundleDeploymentFixture();
  fixture.handler.mockImplementation(async (_, { spec }) =>
    spec.config === undefined ? objects : ofV2,
  );
  fixture.have(aBundleOf(v1, { phase: 'Unpacked' }, { uid: 'first' }));
  await fixture.reconcile();
  refuse(refusal);
  fixture.changeSpec({ config: { size: 2 } });
  fixture.applier.apply.mockClear();
  await fixture.failure();
  expect(applied()).toEqual([ofV1]);
});

test('what the installed Bundle’s objects have ended meanwhile stays known', async () => {
  const finished = [{ kind: 'Job', name: 'once', digest: 'd' }];
  fixture.applier.apply.mockResolvedValue({
    changes: 0,
    complete: true,
    finished: finished as never,
  });
  await fixture.failure();
  expect(fixture.status.finished).toEqual({ bundle: nameOf(v1), objects: finished });
});

test('tells of the refusal where the installed Bundle cannot be kept in place either', async () => {
  fixture.applier.apply.mockRejectedValue(new TerminalError('the installed one is not'));
  expect(await fixture.failure()).toMatchObject({ message: refusal.message });
  expect(fixture.conditions.join()).toContain(`Installed False UpgradeFailed: ${refusal.message}`);
});

test('nothing goes back once a part of the new Bundle may be applied', async () => {
  fixture.check.mockReset();
  fixture.applier.apply.mockImplementation(async (request) => {
    if (isOfV2(request)) throw new TerminalError('the server refuses the second object');
    return { changes: 0, complete: true };
  });
  await fixture.failure();
  expect(applied()).toEqual([['of-v2']]);
  expect(fixture.status.applied).toMatchObject({ begun: nameOf(v2), superseded: true });
  refuse(refusal);
  await fixture.failure();
  expect(applied()).toEqual([]);
});

test('nor where no status tells what is installed, because its deletions still wait', async () => {
  const deployment = aStoredDeployment();
  fixture = aProcess(new BundleDeploymentFixture(deployment));
  const blocked = { reason: 'PruneHeld', message: 'not deleted' };
  const held = { changes: 0, complete: true, blocked, askedDeletions: ['k'] };
  fixture.applier.apply.mockResolvedValueOnce(held);
  await fixture.reconcile();
  expect(fixture.status.applied).toBeUndefined();
  fixture.changeSpec({ template: v2 });
  fixture = aProcess(new BundleDeploymentFixture(fixture.live));
  fixture.have(aBundleOf(v2, { phase: 'Unpacked' }, { uid: 'second' }));
  fixture.applier.apply.mockRejectedValueOnce(new TerminalError('the second object is refused'));
  await fixture.failure();
  expect(applied()).toEqual([['of-v2']]);
});

test('a refused repair of the installed Bundle is not tried twice', async () => {
  fixture = new BundleDeploymentFixture();
  fixture.have(aBundleOf());
  await fixture.reconcile();
  fixture.check.mockRejectedValue(refusal);
  fixture.check.mockClear();
  await fixture.failure();
  expect(fixture.check).toHaveBeenCalledOnce();
});

test('a server that cannot answer now is asked again, and nothing is put in the place', async () => {
  refuse(new Error('connection refused'));
  await fixture.failure();
  expect(applied()).toEqual([]);
});

describe('with a third Bundle, after a part of the second was applied,', () => {
  beforeEach(async () => {
    fixture.check.mockReset();
    fixture.applier.apply.mockRejectedValueOnce(new TerminalError('the second object is refused'));
    await fixture.failure();
    expect(fixture.status.applied).toMatchObject({ begun: nameOf(v2) });
    fixture.handler.mockImplementation(async ({ files }) =>
      files.has(nameOf(v1)) ? objects : ofV2,
    );
    fixture.have(aBundleOf(v3, { phase: 'Unpacked' }, { uid: 'third' }));
    fixture.changeSpec({ template: v3 });
    fixture.applier.apply.mockClear();
  });

  test('a refusal takes nothing back: the third may have what the second has made', async () => {
    refuse(refusal);
    await fixture.failure();
    expect(applied()).toEqual([]);
    expect(fixture.status.applied).toMatchObject({ begun: nameOf(v2), superseded: true });
  });

  test('what stands in while the third is unpacked deletes nothing', async () => {
    fixture.have(aBundleOf(v3, { phase: 'Failing' }, { uid: 'third' }));
    await fixture.reconcile();
    expect(standingIn()).toEqual([true]);
  });
});

test('what stands in for a refused Bundle deletes nothing, and ends no wait to be confirmed', async () => {
  const heldPrune = { digest: 'd', reason: 'too many', count: 1, objects: [] };
  fixture.changeSpec({ template: v1 });
  fixture.applier.apply.mockResolvedValueOnce({ changes: 0, complete: true, heldPrune });
  await fixture.reconcile();
  fixture.have(aBundleOf(v2, { phase: 'Unpacked' }, { uid: 'second' }));
  fixture.changeSpec({ template: v2 });
  fixture.applier.apply.mockClear();
  await fixture.failure();
  expect(standingIn()).toEqual([true]);
  expect(fixture.status.heldPrune).toEqual(heldPrune);
});

test('a rollback and an upgrade delete', async () => {
  fixture.check.mockReset();
  fixture.changeSpec({ rollback: { deadline: '30s' } });
  fixture.applier.health.mockReturnValue([{ message: 'InProgress' }]);
  await fixture.reconcile();
  fixture.clock.advance(30_000);
  await fixture.reconcile();
  await fixture.reconcile();
  expect(fixture.conditions.join()).toContain('RolledBack');
  expect(new Set(standingIn())).toEqual(new Set([false]));
});

describe('what is installed is left alone by a new process', () => {
  /** The next process, whose class has another input, or another seed. */
  async function next(facts: object, made = objects): Promise<void> {
    fixture = aProcess(new BundleDeploymentFixture(fixture.live));
    fixture.handler.mockImplementation(async ({ files }) => (files.has(nameOf(v2)) ? ofV2 : made));
    fixture.facts.prepare.mockResolvedValue({
      version: JSON.stringify(facts),
      read: async () => ({ inputs: [], ...facts }),
    });
    fixture.have(aBundleOf(v2, { phase: 'Unpacked' }, { uid: 'second' }));
    refuse(refusal);
    await fixture.failure();
  }

  test('with another input, for which its hooks have not run', async () => {
    await next({ inputsDigest: 'other' });
    expect(applied()).toEqual([]);
  });

  test('with another generated password', async () => {
    await next({ seed: Buffer.from('a'), seedIdentity: 'a' }, [anObject('Secret')]);
    expect(applied()).toEqual([]);
  });
});

test('the installed Bundle has its certificate, whatever Service the refused one has', async () => {
  fixture = new BundleDeploymentFixture();
  const service = certifiedService();
  const renamed = { ...service, metadata: { ...service.metadata, name: 'of-v2' } };
  fixture.handler.mockImplementation(async (_, { spec }) =>
    spec.config === undefined ? [service] : [renamed],
  );
  fixture.have(aBundleOf(v1, { phase: 'Unpacked' }, { uid: 'first' }));
  await fixture.reconcile();
  refuse(refusal);
  fixture.changeSpec({ config: { size: 2 } });
  await fixture.failure();
  await fixture.failure();
  const requests = fixture.applier.apply.mock.calls.map(([request]) => request.objects);
  expect(requests).toHaveLength(3);
  expect(new Set(requests.map((each) => JSON.stringify(each))).size).toBe(1);
});

test('the process that applied it keeps it as it was, whatever the class would render by now', async () => {
  const otherwise = [anObject('ConfigMap', { name: 'of-other-facts' })];
  fixture.handler.mockImplementation(async ({ files }, _, { inputs }) => {
    if (files.has(nameOf(v2))) return ofV2;
    return inputs.length === 0 ? objects : otherwise;
  });
  const read = async () => ({ inputs: [{ kind: 'ConfigMap', name: 'i', data: {} }] as never });
  fixture.facts.prepare.mockResolvedValue({ version: 'other', read });
  await fixture.failure();
  await fixture.failure();
  expect(applied()).toEqual([ofV1, ofV1]);
});

test('nothing is written when the API server’s store went back in time meanwhile', async () => {
  await fixture.failure();
  const { conditions } = fixture;
  refuse(new TerminalError('another refusal'));
  fixture.applier.apply.mockRejectedValueOnce(new OutdatedOwnerError('restored'));
  expect(await fixture.failure()).toBeInstanceOf(OutdatedOwnerError);
  expect(fixture.conditions).toEqual(conditions);
});
