import { describe, expect, test } from 'vitest';
import {
  aCatalogBundle,
  anOperator,
  chosen,
  ExtensionFixture,
  notChosen,
} from '../../../test/helpers/extension-fixture.ts';
import { refusal } from '../../../test/helpers/json-patched.ts';

async function reconciled(
  choice = chosen('1.0.0'),
  annotations: Readonly<Record<string, string>> = {},
): Promise<ExtensionFixture> {
  const operator = anOperator();
  const metadata = { ...operator.metadata, annotations };
  const fixture = new ExtensionFixture({ ...operator, metadata });
  fixture.choice = choice;
  await fixture.reconcile();
  return fixture;
}

async function installed(
  version = '1.0.0',
  annotations: Readonly<Record<string, string>> = {},
): Promise<ExtensionFixture> {
  const fixture = await reconciled(chosen(version), annotations);
  fixture.coreInstalls();
  await fixture.reconcile();
  fixture.taken();
  fixture.events.taken();
  return fixture;
}

describe('the texts of OLM 1.0 before anything is installed', () => {
  test.each([
    [
      'invalid-version',
      'Resolved Unknown ResolutionUnknown: validation has not been attempted as spec is invalid',
      'Installed Unknown InstallationStatusUnknown: installation has not been attempted as spec is invalid',
    ],
    [
      'no-candidates',
      'Resolved False ResolutionFailed: no package "painter" found',
      'Installed Unknown InstallationStatusUnknown: installation has not been attempted due to failure to gather data for resolution',
    ],
    [
      'unsatisfiable',
      'Resolved False ResolutionFailed: no package "painter" found',
      'Installed Unknown InstallationStatusUnknown: installation has not been attempted as resolution is unsatisfiable',
    ],
  ] as const)('%s', async (reason, resolvedCondition, installedCondition) => {
    const fixture = await reconciled(notChosen('no package "painter" found', { reason }) as never);
    expect(fixture.condition('Resolved')).toBe(resolvedCondition);
    expect(fixture.condition('Installed')).toBe(installedCondition);
    expect(fixture.status).not.toHaveProperty('resolvedBundleResource');
    expect(fixture.taken()).toEqual(['patch Operator/painter']);
  });

  test('failure first: Installed comes before Resolved, as in OLM', async () => {
    const fixture = await reconciled(notChosen('no package "painter" found') as never);
    const types = fixture.conditions.map((condition) => condition.split(' ')[0]);
    expect(types.slice(0, 2)).toEqual(['Installed', 'Resolved']);
  });

  test('resolved, and core has not looked at the BundleDeployment', async () => {
    const fixture = await reconciled();
    expect(fixture.conditions.slice(0, 2)).toEqual([
      'Resolved True Success: resolved to "example.com/painter:1.0.0"',
      'Installed Unknown InstallationStatusUnknown: bundledeployment status is unknown',
    ]);
    expect(fixture.status).toMatchObject({ resolvedBundleResource: 'example.com/painter:1.0.0' });
  });

  test('an unknown media type', async () => {
    const bundle = aCatalogBundle('1.0.0', [{ type: 'olm.bundle.mediatype', value: 'helm+v9' }]);
    const fixture = await reconciled(chosen('1.0.0', { bundle }));
    expect(fixture.condition('Resolved')).toContain('True Success');
    expect(fixture.condition('Installed')).toBe(
      'Installed False InstallationFailed: unknown bundle mediatype: helm+v9',
    );
    expect(fixture.deployment).toBeUndefined();
  });

  test('a media type that is no text', async () => {
    const bundle = aCatalogBundle('1.0.0', [{ type: 'olm.bundle.mediatype', value: 7 }]);
    const fixture = await reconciled(chosen('1.0.0', { bundle }));
    expect(fixture.condition('Installed')).toMatch(
      /InstallationFailed: error determining bundle mediatype for bundle "painter.v1.0.0": /,
    );
  });

  test('a refusal of the API server, which is tried again', async () => {
    const fixture = new ExtensionFixture(anOperator());
    fixture.refusal = refusal(422, 'metadata.name: Too long: may not be more than 45 bytes');
    await expect(fixture.reconcile()).rejects.toThrow('Too long');
    expect(fixture.condition('Installed')).toBe(
      'Installed False InstallationFailed: metadata.name: Too long: may not be more than 45 bytes',
    );
    await fixture.reconcile();
    expect(fixture.image).toBe('example.com/painter:1.0.0');
  });
});

describe('the BundleDeployment', () => {
  test('has the name of the Operator, which owns it, and the class of the bundle', async () => {
    const { deployment } = await reconciled();
    expect(deployment).toMatchObject({
      metadata: {
        name: 'painter',
        ownerReferences: [
          {
            apiVersion: 'operators.operatorframework.io/v1alpha1',
            kind: 'Operator',
            name: 'painter',
            uid: 'uid-of-painter',
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: {
        provisionerClassName: 'core-rukpak-io-plain',
        template: {
          spec: {
            provisionerClassName: 'core-rukpak-io-registry',
            source: { type: 'image', image: { ref: 'example.com/painter:1.0.0' } },
          },
        },
      },
    });
    expect(deployment?.spec).not.toHaveProperty('config');
  });

  test('of a plain bundle is of class plain', async () => {
    const bundle = aCatalogBundle('1.0.0', [{ type: 'olm.bundle.mediatype', value: 'plain+v0' }]);
    const { deployment } = await reconciled(chosen('1.0.0', { bundle }));
    expect(deployment?.spec.template.spec.provisionerClassName).toBe('core-rukpak-io-plain');
  });
});

describe('an installed Operator', () => {
  test('says so, with its version', async () => {
    const fixture = await installed();
    expect(fixture.conditions.slice(0, 2)).toEqual([
      'Resolved True Success: resolved to "example.com/painter:1.0.0"',
      'Installed True Success: installed from "example.com/painter:1.0.0"',
    ]);
    expect(fixture.status).toMatchObject({
      installedBundleResource: 'example.com/painter:1.0.0',
      installed: { name: 'painter.v1.0.0', version: '1.0.0' },
      available: { name: 'painter.v1.0.0', version: '1.0.0', catalog: 'colours' },
    });
    expect(fixture.condition('Ready')).toMatch(/^Ready True Healthy/);
  });

  test('sends no request while nothing changes', async () => {
    const fixture = await installed();
    await fixture.reconcile();
    expect(fixture.taken()).toEqual([]);
  });

  test('keeps everything when its catalog is gone, and says so', async () => {
    const fixture = await installed();
    fixture.choice = notChosen('no package "painter" found');
    await fixture.reconcile();
    expect(fixture.taken()).toEqual(['patch Operator/painter']);
    expect(fixture.condition('Resolved')).toBe(
      'Resolved False ResolutionFailed: no package "painter" found',
    );
    expect(fixture.condition('Installed')).toBe(
      'Installed True Success: installed from "example.com/painter:1.0.0"',
    );
    expect(fixture.condition('Ready')).toBe(
      'Ready False ResolutionFailed: no package "painter" found. (bundle "painter.v1.0.0" stays installed)',
    );
    expect(fixture.status).toMatchObject({
      installedBundleResource: 'example.com/painter:1.0.0',
      installed: { version: '1.0.0' },
    });
    expect(fixture.events.taken()).toEqual([
      'Warning ResolutionFailed: no package "painter" found',
    ]);
  });

  test('says that an upgrade stays selected when its catalog is gone', async () => {
    const fixture = await installed();
    fixture.choice = chosen('1.1.0');
    await fixture.reconcile();
    fixture.choice = notChosen('catalog "a" has no content');
    await fixture.reconcile();
    expect(fixture.image).toBe('example.com/painter:1.1.0');
    expect(fixture.condition('Ready')).toBe(
      'Ready False ResolutionFailed: catalog "a" has no content. (bundle "painter.v1.0.0" is installed, and "painter.v1.1.0" stays selected)',
    );
  });

  test('is repaired while its catalog is gone', async () => {
    const fixture = await installed();
    fixture.choice = notChosen('no package "painter" found');
    const { deployment } = fixture;
    if (deployment === undefined) throw new Error('no deployment');
    const source = { type: 'image', image: { ref: 'example.com/foreign:1' } } as const;
    const template = { spec: { provisionerClassName: 'core-rukpak-io-plain', source } };
    fixture.put({ ...deployment, spec: { ...deployment.spec, template } });
    await fixture.reconcile();
    expect(fixture.image).toBe('example.com/painter:1.0.0');
    expect(fixture.deployment?.spec.template.spec.provisionerClassName).toBe(
      'core-rukpak-io-registry',
    );
  });

  test('says nothing new while a catalog has not been looked at', async () => {
    const fixture = await installed();
    fixture.choice = { kind: 'pending', message: 'Waiting for the content of Catalog "x".' };
    await fixture.reconcile();
    expect(fixture.taken()).toEqual([]);
  });

  test('is not ready for a new spec while a catalog has not been looked at', async () => {
    const fixture = await installed();
    const message = 'Waiting for the content of Catalog "x".';
    fixture.choice = { kind: 'pending', message };
    fixture.changeSpec({ version: '>=2.0.0' });
    await fixture.reconcile();
    expect(fixture.condition('Ready')).toBe(`Ready False CatalogPending: ${message}`);
    expect(fixture.condition('Installed')).toContain('Installed True');
  });

  test('is upgraded; the old bundle counts as installed until core has applied the new one', async () => {
    const fixture = await installed();
    fixture.choice = chosen('1.1.0');
    await fixture.reconcile();
    expect(fixture.image).toBe('example.com/painter:1.1.0');
    expect(fixture.status).toMatchObject({
      resolvedBundleResource: 'example.com/painter:1.1.0',
      installedBundleResource: 'example.com/painter:1.0.0',
      installed: { version: '1.0.0' },
    });
    expect(fixture.condition('Installed')).toBe(
      'Installed True Success: installed from "example.com/painter:1.0.0"',
    );
    fixture.coreInstalls();
    await fixture.reconcile();
    expect(fixture.status).toMatchObject({
      installedBundleResource: 'example.com/painter:1.1.0',
      installed: { version: '1.1.0' },
    });
    expect(fixture.events.taken()).toEqual([
      'Normal Resolved: resolved to "example.com/painter:1.1.0"',
      'Normal Installed: installed from "example.com/painter:1.1.0"',
    ]);
  });

  test('is not upgraded if its spec has changed, which a silent watch does not show', async () => {
    const fixture = await installed();
    fixture.choice = chosen('1.1.0');
    fixture.live = ({ metadata, ...seen }) => {
      const newer = { ...metadata, generation: 2, resourceVersion: '1000' };
      return { ...seen, metadata: newer, spec: { packageName: 'painter', version: '1.0.0' } };
    };
    await fixture.reconcile();
    expect(fixture.taken()).toEqual(['get Operator/painter']);
    expect(fixture.image).toBe('example.com/painter:1.0.0');
    expect(fixture.object['spec']).toMatchObject({ version: '1.0.0' });
  });

  test('is chosen for again if core rolls back meanwhile', async () => {
    const fixture = await installed('1.0.0', { 'core.rukpak.io/rollback-deadline': '5m' });
    const { wantedBundle: first } = fixture;
    fixture.choice = chosen('1.1.0');
    await fixture.reconcile();
    fixture.coreInstalls();
    await fixture.reconcile();
    // The choice is that of an upgrade from 1.1.0.
    fixture.choice = chosen('1.2.0');
    fixture.meanwhile = () => {
      fixture.coreReports({ activeBundle: first });
      fixture.meanwhile = () => undefined;
    };
    fixture.taken();
    await fixture.reconcile();
    expect(fixture.taken()).toEqual([]);
    expect(fixture.image).toBe('example.com/painter:1.1.0');
  });

  test('a failed upgrade does not count as installed', async () => {
    const fixture = await installed();
    fixture.choice = chosen('1.1.0');
    await fixture.reconcile();
    fixture.coreReports({
      reason: 'UpgradeFailed',
      message: 'denied',
      outlook: 'Reconciling',
      conditions: { HasValidBundle: ['True', ''], Installed: ['False', 'denied'] },
    });
    await fixture.reconcile();
    expect(fixture.condition('Installed')).toBe(
      'Installed False InstallationFailed: bundledeployment not ready: denied',
    );
    expect(fixture.status).toMatchObject({
      installed: { version: '1.0.0' },
      available: { version: '1.1.0', reason: 'InstallationFailed', message: 'denied' },
    });
  });

  test.each([
    { reason: 'RollingBack', outlook: 'Reconciling', told: 'Core began to roll back' },
    { reason: 'RolledBack', outlook: 'Stalled', told: 'Core rolled back' },
  ] as const)(
    'of a rollback by core ($reason) it tells with the names of the catalog',
    async (row) => {
      const fixture = await installed('1.0.0', { 'core.rukpak.io/rollback-deadline': '5m' });
      const former = fixture.wantedBundle;
      fixture.choice = chosen('1.1.0');
      await fixture.reconcile();
      fixture.coreInstalls();
      await fixture.reconcile();
      fixture.taken();
      const at = '2026-01-01T00:10:00Z';
      const reason = 'not healthy within 5m (web: 0 of 1)';
      fixture.coreReports({
        activeBundle: former,
        reason: row.reason,
        message: 'change spec.template',
        outlook: row.outlook,
        rollback: { from: fixture.wantedBundle, to: former, reason, at },
        conditions: { HasValidBundle: ['True', ''], Installed: ['True', ''] },
      });
      await fixture.reconcile();
      expect(fixture.status).toMatchObject({ installed: { version: '1.0.0' } });
      expect(fixture.condition('Ready')).toBe(
        `Ready False ${row.reason}: ${row.told} to bundle "painter.v1.0.0" at ${at}, because "painter.v1.1.0" was ${reason}. Core does not retry "painter.v1.1.0": wait for another version in the catalog, request another version, or remove annotation core.rukpak.io/rollback-deadline to retry "painter.v1.1.0" without a deadline`,
      );
      expect(fixture.image).toBe('example.com/painter:1.1.0');
    },
  );
});

test('a fresh Operator whose bundle cannot be unpacked says why', async () => {
  const fixture = await reconciled();
  fixture.coreReports({
    reason: 'UnpackFailed',
    message: 'no manifests',
    outlook: 'Stalled',
    conditions: { HasValidBundle: ['False', 'Failed to unpack: no manifests'] },
  });
  await fixture.reconcile();
  expect(fixture.condition('Installed')).toBe(
    'Installed False InstallationFailed: bundledeployment not ready: Failed to unpack: no manifests',
  );
});

test('the newest version that the spec excludes is shown, with the reason', async () => {
  const newest = {
    bundle: aCatalogBundle('2.0.0'),
    catalog: { name: 'colours', namespace: '', priority: 0 },
    notTaken: 'it is not in version range "1.x"',
  };
  const fixture = await reconciled(chosen('1.0.0', { newest }));
  expect(fixture.status['available']).toEqual({
    name: 'painter.v2.0.0',
    version: '2.0.0',
    catalog: 'colours',
    reason: 'NotAllowed',
    message: 'it is not in version range "1.x"',
  });
});
