import { beforeEach, expect, test } from 'vitest';
import {
  aBundleOf,
  BundleDeploymentFixture,
  nameOf,
} from '../../../test/helpers/bundle-deployment-fixture.ts';
import { certifiedService } from '../../../test/helpers/certified-service.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { ApiError } from '../../platform/kube/index.ts';
import { defaultCertificates } from '../certificates/certificate-options.ts';
import { Certificates } from '../certificates/certificates.ts';

const day = 24 * 3_600_000;
const minute = 60_000;

const service = certifiedService();

let fixture: BundleDeploymentFixture;

beforeEach(() => {
  fixture = new BundleDeploymentFixture(aStoredDeployment());
  fixture.have(aBundleOf());
  fixture.handler.mockResolvedValue([service]);
});

function applied(): readonly string[] {
  const [request] = fixture.applier.apply.mock.lastCall ?? [];
  return (request?.objects ?? []).map(({ kind, metadata }) => `${kind}/${metadata.name}`);
}

test('what is applied has the Secret, and the reconcile comes again when the next one is due', async () => {
  await fixture.reconcile();
  expect(applied()).toEqual(['Secret/cert', 'Service/hook']);
  expect(fixture.wakeAfter).toBe(60 * day);
  expect(fixture.conditions).toContain(
    `Installed True InstallationSucceeded: Instantiated bundle ${nameOf()} successfully`,
  );
});

test('what a rotation changes is no drift', async () => {
  const unchanged = () => fixture.applier.apply.mock.lastCall?.[0].unchanged;
  await fixture.reconcile();
  await fixture.reconcile();
  expect(unchanged()).toBe(true);
  fixture.clock.advance(60 * day);
  await fixture.reconcile();
  expect(unchanged()).toBe(false);
  expect(fixture.wakeAfter).toBe(5 * minute);
  fixture.clock.advance(5 * minute);
  await fixture.reconcile();
  expect(unchanged()).toBe(false);
  await fixture.reconcile();
  expect(unchanged()).toBe(true);
});

test('a rotation is no upgrade: hooks do not run again', async () => {
  const annotations = { 'core.rukpak.io/hook': 'pre-install,pre-upgrade' };
  const hook = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'before', annotations } };
  fixture.handler.mockResolvedValue([service, hook]);
  const settle = async () => {
    for (let round = 0; round < 4; round += 1) await fixture.reconcile();
  };
  await settle();
  expect(fixture.applier.runHook).toHaveBeenCalledTimes(1);
  fixture.clock.advance(60 * day);
  await settle();
  fixture.clock.advance(5 * minute);
  await settle();
  expect(fixture.events.taken().join()).toContain('CertificateRotated');
  expect(fixture.applier.runHook).toHaveBeenCalledTimes(1);
});

test('nothing is told of as served before all of it is applied', async () => {
  fixture.applier.apply.mockResolvedValue({ changes: 1, complete: false });
  await fixture.reconcile();
  expect(fixture.events.taken().join()).not.toContain('Certificate');
});

test('an annotation that cannot be followed is told in Installed, and nothing is applied', async () => {
  const annotations = { 'core.rukpak.io/serving-certificate': 'No Name' };
  fixture.handler.mockResolvedValue([{ ...service, metadata: { name: 'hook', annotations } }]);
  expect(await fixture.failure()).toBeInstanceOf(Error);
  expect(fixture.conditions.join('\n')).toContain(
    'Installed False InstallFailed: annotation core.rukpak.io/serving-certificate of Service "hook" is "No Name"',
  );
  expect(fixture.applier.apply).not.toHaveBeenCalled();
});

test('a provider that the cluster does not have is looked for soon', async () => {
  const { client, clock, events } = fixture;
  const discovery = { apiVersions: async () => [], invalidate: () => undefined };
  const certificates = new Certificates({
    ...defaultCertificates,
    provider: 'cert-manager',
    client,
    clock,
    events,
    discovery,
    systemNamespace: 'rukpak-system',
  });
  const waiting = new BundleDeploymentFixture(aStoredDeployment(), { certificates });
  waiting.have(aBundleOf());
  waiting.handler.mockResolvedValue([service]);
  await waiting.failure();
  expect(waiting.conditions.join()).toContain('Installed False InstallFailed: core runs with');
  expect(waiting.wakeAfter).toBe(minute);
});

test('an API server that does not answer says nothing of the deployment', async () => {
  fixture.client.faults.get = [new ApiError(503, { message: 'try later' })];
  expect(await fixture.failure()).toMatchObject({ message: 'try later' });
  expect(fixture.conditions.join('\n')).not.toContain('Installed');
  await fixture.reconcile();
  expect(applied()).toEqual(['Secret/cert', 'Service/hook']);
});
