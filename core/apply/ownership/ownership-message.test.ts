import { expect, test } from 'vitest';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { ownershipMessage } from './ownership-message.ts';

const foreign = {
  kind: 'ConfigMap',
  key: { namespace: 'default', name: 'foreign' },
  because: 'has no owner',
};
const others = {
  kind: 'ClusterRole',
  key: { name: 'r' },
  because: 'belongs to BundleDeployment "b"',
  deployment: 'b',
};

test('the message names every object and the way out', () => {
  expect(ownershipMessage([foreign, others], aStoredDeployment(), 'update')).toBe(
    'rendered manifests contain a resource that already exists. Unable to continue with update: ' +
      'ConfigMap "foreign" in namespace "default" exists and cannot be imported into the current ' +
      'release: it has no owner; ' +
      'ClusterRole "r" in namespace "" exists and cannot be imported into the current ' +
      'release: it belongs to BundleDeployment "b". ' +
      'Delete or rename them, or let this BundleDeployment adopt them: ' +
      'kubectl annotate bundledeployment b core.rukpak.io/hand-over=demo; ' +
      'set spec.adoption to Unowned or Always, or kubectl annotate --overwrite bundledeployment demo ' +
      'core.rukpak.io/adopt=ConfigMap/default/foreign',
  );
});

test('what the deployment may adopt already stays in the command', () => {
  const { metadata, ...deployment } = aStoredDeployment();
  const annotations = { 'core.rukpak.io/adopt': 'Job/shop/migrate, ConfigMap/default/foreign' };
  const owner = { ...deployment, metadata: { ...metadata, annotations } };
  const crd = { ...foreign, kind: 'CustomResourceDefinition', key: { name: 'xs.example.com' } };
  const hostile = { 'core.rukpak.io/adopt': "Job/x/$(reboot)'" };
  const asked = { ...owner, metadata: { ...metadata, annotations: hostile } };
  expect(ownershipMessage([foreign], asked, 'install')).toMatch(
    /core\.rukpak\.io\/adopt='Job\/x\/\$\(reboot\)'\\'',ConfigMap\/default\/foreign'$/,
  );
  expect(ownershipMessage([foreign, crd], owner, 'install')).toMatch(
    /core\.rukpak\.io\/adopt=Job\/shop\/migrate,ConfigMap\/default\/foreign,CustomResourceDefinition\/xs\.example\.com$/,
  );
});

test("what another deployment has is that one's to give", () => {
  expect(ownershipMessage([others], aStoredDeployment(), 'install')).toMatch(
    /Delete or rename it, .*BundleDeployment adopt it: kubectl annotate bundledeployment b core.rukpak.io\/hand-over=demo$/,
  );
});

test('of adoption Never the way out is another adoption', () => {
  const deployment = aStoredDeployment();
  const owner = { ...deployment, spec: { ...deployment.spec, adoption: 'Never' as const } };
  expect(ownershipMessage([foreign], owner, 'install')).toMatch(
    /BundleDeployment adopt it: set spec.adoption to Unowned or Always in place of Never$/,
  );
});

test('what has a controller is taken with adoption Always alone', () => {
  const controlled = { ...foreign, because: 'is controlled by ReplicaSet "r"', needsAlways: true };
  expect(ownershipMessage([foreign, controlled], aStoredDeployment(), 'install')).toContain(
    'BundleDeployment adopt them: set spec.adoption to Always, or kubectl annotate',
  );
});

test('a thousand objects make a short message', () => {
  const refused = Array.from({ length: 1000 }, (_, index) => ({
    ...others,
    deployment: index % 2 === 0 ? undefined : `b${index}`,
  }));
  const message = ownershipMessage(refused, aStoredDeployment(), 'install');
  expect(message.length).toBeLessThan(3000);
  expect(message).toContain('; and 990 more. ');
  expect(message).toMatch(/core\.rukpak\.io\/adopt='\*'$/);
});
