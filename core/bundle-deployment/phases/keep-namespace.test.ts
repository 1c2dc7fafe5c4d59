import { expect, test } from 'vitest';
import type { BundleDeploymentStatus } from '../../../api/v1alpha1/index.ts';
import {
  aBundleOf,
  BundleDeploymentFixture,
  nameOf,
  v1,
  v2,
} from '../../../test/helpers/bundle-deployment-fixture.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';

function aFixture(
  installNamespace: string | undefined,
  status?: BundleDeploymentStatus,
  systemNamespace = 'rukpak-system',
): BundleDeploymentFixture {
  const deployment = aStoredDeployment({ template: v2, ...(status && { status }) });
  const spec = { ...deployment.spec, ...(installNamespace && { installNamespace }) };
  const fixture = new BundleDeploymentFixture({ ...deployment, spec }, { systemNamespace });
  fixture.have(aBundleOf(v1), aBundleOf(v2));
  return fixture;
}

test.each([
  { asked: undefined, installNamespace: 'rukpak-system' },
  { asked: 'shop', installNamespace: 'shop' },
])('where a deployment is installed is remembered: $installNamespace', async (given) => {
  const fixture = aFixture(given.asked);
  await fixture.reconcile();
  expect(fixture.status.installNamespace).toBe(given.installNamespace);
});

test('another system namespace changes nothing of what is installed, or begun', async () => {
  for (const activeBundle of [nameOf(v2), '']) {
    const fixture = aFixture(undefined, { activeBundle, installNamespace: 'old' }, 'new');
    await fixture.reconcile();
    expect(fixture.status.installNamespace).toBe('old');
    expect(fixture.conditions.join()).not.toContain('InstallNamespaceChanged');
  }
});

test('what is installed does not move: the active Bundle is kept in place', async () => {
  const fixture = aFixture('new', { activeBundle: nameOf(v1), installNamespace: 'old' });
  await fixture.reconcile();
  expect(fixture.status).toMatchObject({ activeBundle: nameOf(v1), installNamespace: 'old' });
  expect(fixture.conditions).toContain(
    'Progressing False InstallNamespaceChanged: BundleDeployment "demo" is installed in namespace "old", and core does not move it to "new": set spec.installNamespace to "old". To install in "new", create another BundleDeployment',
  );
});

test('what was installed before namespaces were remembered is in the system namespace', async () => {
  const fixture = aFixture('new', { activeBundle: nameOf(v2) });
  await fixture.reconcile();
  expect(fixture.conditions.join()).toContain('is installed in namespace "rukpak-system"');
});

test('what was never installed completely goes where the spec says by now', async () => {
  const fixture = aFixture('new', { installNamespace: 'old' });
  await fixture.reconcile();
  expect(fixture.status.installNamespace).toBe('new');
});

test('what was restored without its status stays where it was installed', async () => {
  const fixture = aFixture(undefined, {}, 'new');
  const { live } = fixture;
  const annotations = { 'core.rukpak.io/install-namespace': 'demo:old' };
  fixture.change({ ...live, metadata: { ...live.metadata, annotations } });
  await fixture.reconcile();
  expect(fixture.status.installNamespace).toBe('old');
  fixture.changeSpec({ installNamespace: 'asked' });
  await fixture.reconcile();
  expect(fixture.conditions.join()).toContain('is installed in namespace "old"');
});

test('a copy under another name goes where its spec says', async () => {
  const fixture = aFixture('asked', {}, 'new');
  const { live } = fixture;
  const annotations = { 'core.rukpak.io/install-namespace': 'original:old' };
  fixture.change({ ...live, metadata: { ...live.metadata, annotations } });
  await fixture.reconcile();
  expect(fixture.status.installNamespace).toBe('asked');
});
