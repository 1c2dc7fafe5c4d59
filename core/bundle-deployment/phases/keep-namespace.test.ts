import { describe, expect, test } from 'vitest';
import type { BundleDeploymentStatus } from '../../../api/v1alpha1/index.ts';
import {
  aBundleOf,
  BundleDeploymentFixture,
  nameOf,
  v1,
  v2,
} from '../../../test/helpers/bundle-deployment-fixture.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';

interface Place {
  readonly systemNamespace?: string;
  /** Annotation core.rukpak.io/install-namespace. */
  readonly note?: string;
}

function aFixture(
  installNamespace: string | undefined,
  status?: BundleDeploymentStatus,
  { systemNamespace = 'rukpak-system', note }: Place = {},
): BundleDeploymentFixture {
  const annotations = note === undefined ? {} : { 'core.rukpak.io/install-namespace': note };
  const metadata = { annotations };
  const deployment = aStoredDeployment({ template: v2, metadata, ...(status && { status }) });
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
    const status = { activeBundle, installNamespace: 'old' };
    const fixture = aFixture(undefined, status, { systemNamespace: 'new', note: 'demo:old' });
    await fixture.reconcile();
    expect(fixture.status.installNamespace).toBe('old');
    expect(fixture.conditions.join()).not.toContain('InstallNamespaceChanged');
  }
});

test('what is installed does not move: the active Bundle is kept in place', async () => {
  const status = { activeBundle: nameOf(v1), installNamespace: 'old' };
  const fixture = aFixture('new', status, { note: 'demo:old' });
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
  const fixture = aFixture(undefined, {}, { systemNamespace: 'new', note: 'demo:old' });
  await fixture.reconcile();
  expect(fixture.status.installNamespace).toBe('old');
  fixture.changeSpec({ installNamespace: 'asked' });
  await fixture.reconcile();
  expect(fixture.conditions.join()).toContain('is installed in namespace "old"');
});

describe('a status that somebody else wrote', () => {
  test('moves nothing that is installed', async () => {
    const status = { activeBundle: nameOf(v2), installNamespace: 'evil' };
    const fixture = aFixture(undefined, status, { note: 'demo:old' });
    await fixture.reconcile();
    expect(fixture.status.installNamespace).toBe('old');
  });

  test('says nothing about where a first install goes', async () => {
    const fixture = aFixture(undefined, { installNamespace: 'evil' });
    await fixture.reconcile();
    expect(fixture.status.installNamespace).toBe('rukpak-system');
  });

  test.each([undefined, 'shop'])(
    'installs nothing where no annotation says the same (spec: %s)',
    async (asked) => {
      const status = { activeBundle: nameOf(v2), installNamespace: 'evil' };
      const fixture = aFixture(asked, status);
      await fixture.reconcile();
      expect(fixture.applier.apply).not.toHaveBeenCalled();
      const wanted = asked ?? 'rukpak-system';
      expect(fixture.conditions).toContain(
        `Progressing False InstallNamespaceChanged: status.installNamespace of BundleDeployment "demo" is "evil", but annotation core.rukpak.io/install-namespace, in which core records the namespace, is missing: set it to "demo:evil" if the objects are there, otherwise to "demo:${wanted}"`,
      );
    },
  );

  test('is no obstacle where it says what the spec says', async () => {
    const fixture = aFixture('shop', { activeBundle: nameOf(v2), installNamespace: 'shop' });
    await fixture.reconcile();
    expect(fixture.applier.apply).toHaveBeenCalled();
  });
});

test('a copy under another name goes where its spec says', async () => {
  const fixture = aFixture('asked', {}, { systemNamespace: 'new', note: 'original:old' });
  await fixture.reconcile();
  expect(fixture.status.installNamespace).toBe('asked');
});
