import { expect, test } from 'vitest';
import type { BundleSource } from '../../../api/v1alpha1/index.ts';
import { aStoredDeployment, aTemplate } from '../../../test/helpers/stored-objects.ts';
import { cureOfBundle, cureOfDeployment } from './known-causes.ts';
import type { Failing } from './source-causes.ts';

const web = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' };

function aFailing(source?: BundleSource): Failing {
  const template = aTemplate('example.com/app:v1');
  const deployment = aStoredDeployment({
    template: source === undefined ? template : { ...template, spec: { ...template.spec, source } },
  });
  const items = [{ ...web, status: 'Current', message: '' }];
  return { name: 'demo', deployment, objects: { total: 1, healthy: 1, items, hidden: [] } };
}

// Messages that core wrote about deliberately caused failures; texts about quotas, admission
// webhooks and TLS are those of the API server and Node.
const ofDeployments: readonly (readonly [message: string, cure: string])[] = [
  [
    'ClassNotServed: no manager reconciles this BundleDeployment: either class "core-rukpak-io-plian" is misspelt (did you mean "core-rukpak-io-plain"?), or no manager that serves it is running. This one serves core-rukpak-io-helm, core-rukpak-io-plain',
    'write "core-rukpak-io-plain" as spec.provisionerClassName of BundleDeployment "demo"',
  ],
  [
    'no manager reconciles this Bundle: either class "acme" is misspelt, or no manager that serves it is running. This one serves core-rukpak-io-helm, core-rukpak-io-plain',
    'correct spec.template.spec.provisionerClassName of BundleDeployment "demo" (core serves core-rukpak-io-helm, core-rukpak-io-plain), or start the manager that serves class "acme"',
  ],
  [
    'BundleLoadFailed: class "remote" at http://127.0.0.1:32829: dial tcp 127.0.0.1:32829: connect: connection refused',
    'start the server of class "remote", or correct its address http://127.0.0.1:32829 in --provisioner-url of core',
  ],
  [
    'BundleLoadFailed: class "remote" at http://127.0.0.1:32829 answered 500 Internal Server Error: oops',
    'read the log of the server of class "remote" at http://127.0.0.1:32829, which answered 500',
  ],
  [
    `ServiceAccount "a" in namespace "b" lacks permissions for the deletion: delete, get configmaps (c) in namespace "d". Grant them ("rukpakctl permissions demo --missing" prints them as RBAC objects), or keep the objects: kubectl patch bundledeployment demo --type=merge --patch='{"spec":{"deletionPolicy":"Orphan"}}'. Core retries every minute`,
    `review the output of "rukpakctl permissions demo --missing", and let somebody apply it who may grant it, or keep the objects: kubectl patch bundledeployment demo --type=merge --patch='{"spec":{"deletionPolicy":"Orphan"}}' (docs`,
  ],
  [
    'BundleLoadFailed: class "acme", deployment(): boom',
    'deployment() of class "acme" fails: if its message names the config, correct spec.config of BundleDeployment "demo"',
  ],
  [
    'BundleLoadFailed: class "acme", deployment(): it needs a permission that classes do not have (FileSystemRead /etc/passwd): a class may read its own package, and may neither write files nor start processes or threads',
    'change the class to use only the files that it receives',
  ],
  [
    'InstallFailed: configmaps "a" is forbidden: unable to create new content in namespace shop because it is being terminated',
    'namespace "shop" is being deleted: wait until it is deleted (kubectl describe namespace shop shows what blocks it), then kubectl create namespace shop',
  ],
  [
    'UpgradeFailed: cannot patch "web" with kind Deployment: Deployment.apps "web" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"web","more":"yes"}}: field is immutable',
    'restore its former value in the content, or let core recreate the object, which deletes its data: kubectl delete deployment.apps web --namespace shop',
  ],
  [
    'InstallFailed: pods "a" is forbidden: exceeded quota: small, requested: pods=1, used: pods=1, limited: pods=1',
    'raise ResourceQuota "small"',
  ],
  [
    'InstallFailed: admission webhook "policy.example.com" denied the request: no latest tags',
    'webhook "policy.example.com" refuses an object of the bundle',
  ],
  [
    'InstallFailed: failed calling webhook "policy.example.com": failed to call webhook: connection refused',
    'webhook "policy.example.com" does not answer: repair it',
  ],
];

test.each(ofDeployments)('%s', (message, cure) => {
  expect(cureOfDeployment(message, aFailing())).toContain(cure);
});

const registry = 'source bundle content: error fetching image descriptor: registry r.example.com';
const backOff = 'Back-off pulling image "r.example.com/a:v9": registry r.example.com';

const ofBundles: readonly (readonly [message: string, cure: string])[] = [
  [`${backOff} has no "v9" in repository e2e/a`, 'push e2e/a:v9, which core then finds by itself'],
  [
    `${backOff}: connection refused`,
    'core cannot reach the server of its image source: check name',
  ],
  [
    `${backOff}: "r.example.com" has a private, loopback or other denied address, which core does not connect to`,
    'an admin may allow the address: --allow-source-address',
  ],
  [`${backOff}: it does not speak TLS; plain HTTP is used only for`, '--insecure-registry'],
  [`${backOff}: its TLS certificate has expired`, 'give the server a new certificate'],
  [`${backOff}: its TLS certificate is for another host`, "use a name of the server's certificate"],
  [
    `${backOff}: its TLS certificate is not trusted: self-signed certificate`,
    'put its CA as ca.crt into a Secret that spec.template.spec.source names',
  ],
  [
    `${registry} denies access to repository e2e/a without credentials (401 Unauthorized)`,
    'kubectl create secret docker-registry NAME --namespace rukpak-system',
  ],
  [
    `${registry} denies access to repository e2e/a with the pull secret (401 Unauthorized)`,
    'correct the credentials in a Secret that spec.template.spec.source names',
  ],
  [
    'source bundle content: GET http://127.0.0.1:43339/a.tgz: unexpected status "404 Not Found"',
    'put the archive at the URL in spec.template.spec.source.http.url, or correct the URL',
  ],
  [
    'source bundle content: get configmap rukpak-system/nowhere: ConfigMap "nowhere" not found',
    'kubectl create configmap nowhere --namespace rukpak-system',
  ],
  [
    'get objects from bundle manifests: error parsing manifests/a.yaml: error converting YAML to JSON: yaml: line 3: Flow sequence in block collection',
    'correct line 3 of manifests/a.yaml in the content',
  ],
];

test.each(ofBundles)('%s', (message, cure) => {
  expect(cureOfBundle(message, aFailing())).toContain(cure);
});

test('credentials are corrected in the very Secret that the source names', () => {
  const http = { url: 'http://x/a.tgz', auth: { secret: { name: 'login' } } };
  const message = 'source bundle content: GET http://x/a.tgz: unexpected status "401 Unauthorized"';
  expect(cureOfBundle(message, aFailing({ type: 'http', http }))).toContain(
    'correct the credentials in Secret "login" in namespace rukpak-system: core retries',
  );
});

test('what is the trouble of a source is none of an installation, and the rest is not guessed', () => {
  expect(cureOfDeployment('dial tcp: connection refused', aFailing())).toBeUndefined();
  expect(cureOfBundle('the moon is full', aFailing())).toBeUndefined();
});
