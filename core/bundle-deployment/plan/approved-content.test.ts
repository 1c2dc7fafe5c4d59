import { beforeEach, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import {
  aBundleOf,
  BundleDeploymentFixture,
  nameOf,
  unpackedStatus,
  v1,
  v2,
} from '../../../test/helpers/bundle-deployment-fixture.ts';
import { anObject } from '../../../test/helpers/registry-bundle.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { TerminalError } from '../../errors.ts';

function withPassword(password: string): KubernetesObject {
  return { ...anObject('ConfigMap'), data: { password } };
}

let fixture: BundleDeploymentFixture;
/** The value of an input of which no watch tells the version. */
let input: string;

/** Installed, with upgradePolicy Manual. */
beforeEach(async () => {
  const { spec, ...deployment } = aStoredDeployment();
  const manual = { ...spec, upgradePolicy: 'Manual', config: {} } as const;
  fixture = new BundleDeploymentFixture({ ...deployment, spec: manual });
  input = 'approved';
  fixture.facts.prepare.mockImplementation(async () => ({
    version: undefined,
    read: async () => ({ inputs: [Buffer.from(input)] }),
  }));
  fixture.handler.mockImplementation(async (_, __, { inputs }) => [
    withPassword(String(inputs[0])),
  ]);
  fixture.have(aBundleOf(v1, unpackedStatus, { creationTimestamp: '2026-01-01T00:00:00Z' }));
  await settle();
  expect(fixture.status.activeBundle).toBe(nameOf());
  fixture.applier.apply.mockClear();
});

async function settle(): Promise<void> {
  while ((await fixture.reconcile()).requeueAfter === 0);
}

const applied = () => fixture.applier.apply.mock.calls.flatMap(([{ objects }]) => objects);

test('an input that changes after core has looked whether it is approved is not applied', async () => {
  fixture.handler.mockImplementationOnce(async () => {
    input = 'changed';
    return [withPassword('approved')];
  });
  await fixture.reconcile();
  expect(applied()).toEqual([withPassword('approved')]);
});

test('objects of which core could not find out whether they are approved are not applied', async () => {
  const message = 'the class does not answer';
  fixture.handler.mockImplementationOnce(async () => {
    input = 'changed';
    throw new Error(message);
  });
  expect(await fixture.failure()).toMatchObject({ message: expect.stringContaining(message) });
  expect(applied()).not.toContainEqual(withPassword('changed'));
});

test('the installed Bundle gets no changed input while an approved one cannot be rendered', async () => {
  fixture.have(aBundleOf(v2));
  fixture.changeSpec({ template: v2 });
  await fixture.reconcile();
  expect(fixture.status.approval?.bundle).toBe(nameOf(v2));
  const render = fixture.handler.getMockImplementation();
  input = 'changed';
  fixture.handler.mockImplementation(async (...given) => {
    const isNew = fixture.load.mock.lastCall?.[0].metadata.name === nameOf(v2);
    if (isNew || render === undefined) throw new TerminalError('no such size');
    return await render(...given);
  });
  expect(await fixture.failure()).toBeUndefined();
  expect(fixture.conditions.join()).toContain('no such size');
  expect(applied()).toEqual([withPassword('approved')]);
});

test.each([
  ['this process', () => undefined],
  ['a process that only knows the status', restart],
])(
  'a revert of Bundle and config amid an approved upgrade needs no approval in %s',
  async (_, start) => {
    const { template, config = {} } = fixture.live.spec;
    fixture.have(aBundleOf(v2));
    fixture.applier.apply.mockRejectedValue(new TerminalError('refused'));
    fixture.changeSpec({ template: v2, config: { size: 2 } });
    await settle().catch(() => undefined);
    expect(fixture.status.approval?.bundle).toBe(nameOf(v2));
    start();
    fixture.applier.apply.mockReset().mockResolvedValue({ changes: 1, complete: true });
    const changes = [{ action: 'Change', group: '', kind: 'ConfigMap', name: 'a' }] as const;
    const plan = { digest: 'other', changes, unchanged: 0, problems: [], warnings: [] };
    fixture.applier.plan.mockResolvedValue(plan);
    fixture.changeSpec({ template, config });
    await settle();
    expect(applied()).toContainEqual(withPassword('approved'));
    expect(fixture.conditions.join()).not.toContain('AwaitingApproval');
  },
);

/** Replaces the process: the new one knows only the cluster. */
function restart(): void {
  const { live, client, handler, facts } = fixture;
  fixture = new BundleDeploymentFixture(live);
  fixture.have(...(client.everything.filter(({ kind }) => kind === 'Bundle') as Bundle[]));
  fixture.handler.mockImplementation(handler.getMockImplementation() ?? (async () => []));
  fixture.facts.prepare.mockImplementation(facts.prepare.getMockImplementation() ?? none);
}

const none = async () => ({ version: '', read: async () => ({ inputs: [] }) });
