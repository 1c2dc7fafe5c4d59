import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { bundleCRD } from '../../../api/v1alpha1/crd.ts';
import { ApiError } from '../../../core/platform/kube/index.ts';
import { refusalCheck } from './answers.ts';
import { checkLine } from './check.ts';
import { definitionCheck } from './definitions.ts';
import { dependencyPermissions } from './operators.ts';
import { overlayOf } from './overlay.ts';
import { deploymentCheck, leaseCheck } from './processes.ts';
import { configurationCheck, expectedConfigurations } from './webhooks.ts';

const established = { conditions: [{ type: 'Established', status: 'True' }] };

/** The CRD with another list of fields in its spec. */
function withSpecFields(change: (fields: Record<string, unknown>) => void): KubernetesObject {
  const crd = structuredClone(bundleCRD()) as KubernetesObject & {
    spec: {
      versions: [{ schema: { openAPIV3Schema: { properties: { spec: { properties: object } } } } }];
    };
  };
  const [{ schema }] = crd.spec.versions;
  change(schema.openAPIV3Schema.properties.spec.properties as Record<string, unknown>);
  return { ...crd, status: established };
}

test('a CRD is compared by its fields', () => {
  const judge = (live: KubernetesObject | undefined): string =>
    checkLine(definitionCheck(bundleCRD(), live));
  expect(judge({ ...bundleCRD(), status: established })).toBe(
    'ok       CRD bundles.core.rukpak.io: established, of this version',
  );
  expect(judge(undefined)).toMatch(/^failed {3}.*: is missing; apply/);
  expect(judge({ ...bundleCRD(), status: {} })).toContain(
    'is not established: Install in progress',
  );
  const newer = withSpecFields((fields) => {
    fields['extra'] = { type: 'string' };
  });
  expect(judge(newer)).toMatch(/^warning {2}.*newer than this program: it also has spec\.extra;/);
  const older = withSpecFields((fields) => {
    delete fields['provisionerClassName'];
  });
  expect(judge(older)).toMatch(/^warning {2}.*it lacks spec\.provisionerClassName;/);
});

test('webhook configurations are to be complete and to trust somebody', () => {
  const expected = expectedConfigurations('rukpak-system');
  const [notes, bundles, , deletion] = expected;
  if (notes === undefined || bundles === undefined || deletion === undefined) {
    throw new Error('they are four');
  }
  expect(configurationCheck(notes, undefined)).toMatchObject({
    state: 'skipped',
    message:
      'is not installed: no history tells which user changed a BundleDeployment (it is optional)',
  });
  expect(configurationCheck(bundles, undefined).state).toBe('failed');
  expect(configurationCheck(deletion, undefined).state).toBe('skipped');
  expect(configurationCheck(bundles, { ...bundles, webhooks: [] }).message).toBe(
    'lacks webhook vbundles.core.rukpak.io, vbundledeployments.core.rukpak.io, vconfigmaps.core.rukpak.io, vdeletions.core.rukpak.io',
  );
  expect(configurationCheck(bundles, bundles).message).toContain('has no usable caBundle');
});

test('a lease has to be held, where core runs in the cluster', () => {
  const now = Date.parse('2030-01-01T00:00:20Z');
  const held = { holderIdentity: 'core-1', leaseDurationSeconds: 15 };
  const lease = (spec: object) => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {},
    spec,
  });
  const renewed = (at: string) => lease({ ...held, renewTime: `2030-01-01T00:00:${at}.000000Z` });
  const inCluster = { name: 'core.rukpak.io', process: 'core', isInCluster: true };
  expect(leaseCheck(renewed('18'), inCluster, now)).toMatchObject({
    state: 'ok',
    message: 'held by core-1, renewed 2 s ago',
  });
  expect(leaseCheck(renewed('00'), inCluster, now).message).toBe(
    'its holder core-1 has not renewed it for 20 s',
  );
  expect(leaseCheck(lease({ ...held, holderIdentity: '' }), inCluster, now).state).toBe('failed');
  expect(leaseCheck(undefined, inCluster, now).state).toBe('failed');
  expect(leaseCheck(undefined, { ...inCluster, isInCluster: false }, now).state).toBe('skipped');
});

test('core-apply has to be there, and only overlay split has it', () => {
  const judge = (name: string) =>
    checkLine(deploymentCheck({ namespace: 'rukpak-system', name }, undefined));
  expect(judge('core-apply')).toBe(
    'failed   Deployment rukpak-system/core-apply: no Deployment core-apply in namespace rukpak-system: nothing is installed; apply overlay split again',
  );
  expect(judge('core')).toMatch(/^skipped {2}/);
  const deployment = (args: readonly string[]) => {
    const spec = { template: { spec: { containers: [{ name: 'core', args }] } } };
    return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: {}, spec };
  };
  expect(overlayOf(deployment(['unpack']))).toEqual({ isSplit: true, needsAccounts: false });
  expect(overlayOf(deployment(['core']))).toEqual({ isSplit: false, needsAccounts: false });
  expect(overlayOf(undefined)).toEqual({ isSplit: false, needsAccounts: false });
});

test('operators may create and delete Operators if they install dependencies, and not otherwise', () => {
  const judge = (args: readonly string[] | undefined, refused: readonly string[]): string => {
    const spec = { template: { spec: { containers: [{ args }] } } };
    const found = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: {}, spec };
    const deployment = args === undefined ? undefined : found;
    return checkLine(
      dependencyPermissions({ namespace: 'rukpak-system', deployment, refused, asked: 2 }),
    );
  };
  const all = ['create operators.x', 'delete operators.x'];
  const flag = '--install-dependencies';
  const subject = `ServiceAccount rukpak-system/rukpak-operators, ${flag}`;
  const none = `ok       ${subject}: is not used, and its permissions are not granted`;
  expect([judge(undefined, all), judge(['operators'], all)]).toEqual([none, none]);
  expect(judge(undefined, [])).toBe(`ok       ${subject}: its permissions are granted`);
  expect(judge(['operators', flag], [])).toBe(
    `ok       ${subject}: permissions asked about: 2, all granted`,
  );
  expect(judge(['operators', flag], all)).toMatch(
    /^failed {3}.*: may not create operators\.x, delete operators\.x; apply your overlay with component install-dependencies/,
  );
  expect(judge(['operators'], [])).toMatch(
    /^warning {2}.*: is not used, but its permissions are granted; kubectl delete clusterrolebinding/,
  );
});

test('a webhook is judged by what it answers, where it could be asked', () => {
  const judge = (code: number, message: string): string =>
    checkLine(refusalCheck('webhook a', new ApiError(code, { message })));
  expect(judge(404, '404 page not found')).toBe(
    'skipped  webhook a: cannot be tried before its CRD is there',
  );
  expect(judge(403, 'you cannot')).toBe(
    'skipped  webhook a: you lack permission to test it: you cannot',
  );
  expect(judge(500, 'failed calling webhook')).toMatch(/^failed {3}webhook a: failed calling/);
});

test.each([
  ['certificate has expired or is not yet valid: current time …', 'have it made again: delete'],
  ['certificate signed by unknown authority', 'the caBundle of its configuration'],
  ['certificate is valid for a, not b', '--webhook-host'],
  ['connection refused', 'see that its process runs'],
])('a webhook that cannot be called for %s has a hint of its own', (text, hint) => {
  const message = `failed calling webhook "a": failed to call webhook: Post "https://b": tls: failed to verify certificate: x509: ${text}`;
  expect(refusalCheck('webhook a', new ApiError(500, { message })).fix).toContain(hint);
});
