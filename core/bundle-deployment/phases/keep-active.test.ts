import { beforeEach, expect, test } from 'vitest';
import {
  aBundleOf,
  BundleDeploymentFixture,
  nameOf,
  objects,
  v1,
  v2,
  v3,
} from '../../../test/helpers/bundle-deployment-fixture.ts';
import { anObject, aTree } from '../../../test/helpers/registry-bundle.ts';
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

test('nor once a part of another Bundle is applied: its objects would be deleted', async () => {
  fixture.check.mockReset();
  fixture.applier.apply.mockRejectedValue(new TerminalError('the server refuses the second'));
  await fixture.failure();
  applied();
  fixture.have(aBundleOf(v3, { phase: 'Unpacked' }, { uid: 'third' }));
  fixture.changeSpec({ template: v3 });
  fixture.check.mockImplementation(async ({ bundle }) => {
    if (bundle !== nameOf(v1)) throw refusal;
  });
  await fixture.failure();
  expect(applied()).toEqual([]);
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
