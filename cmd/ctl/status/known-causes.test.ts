import { expect, test } from 'vitest';
import { ownershipMessage } from '../../../core/apply/ownership/ownership-message.ts';
import { aFailing } from '../../../test/helpers/a-failing.ts';
import { unreachedRows } from '../../../test/helpers/unreached-causes.ts';
import { cureOfBundle, cureOfDeployment, deploymentCauses } from './known-causes.ts';

const refused = {
  kind: 'ConfigMap',
  key: { namespace: 'shop', name: 'web' },
  because: 'belongs to nobody',
};

/** As kubectl and Helm name a kind that the cluster does not serve. */
function noMatch(kind: string, apiVersion: string): string {
  return `InstallFailed: resource mapping not found for name: "n" namespace: "" from "": no matches for kind "${kind}" in version "${apiVersion}"`;
}

// Messages that core wrote about deliberately caused failures; texts about quotas, admission
// webhooks and TLS are those of the API server and Node.
const ofDeployments: readonly (readonly [message: string, cure: string])[] = [
  [
    'ClassNotServed: no manager reconciles this BundleDeployment: either class "core-rukpak-io-plian" is misspelt (did you mean "core-rukpak-io-plain"?), or no manager that serves it is running. The running core serves core-rukpak-io-helm, core-rukpak-io-plain',
    'write "core-rukpak-io-plain" as spec.provisionerClassName of BundleDeployment "demo"',
  ],
  [
    'no manager reconciles this Bundle: either class "acme" is misspelt, or no manager that serves it is running. The running core serves core-rukpak-io-helm, core-rukpak-io-plain',
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
    `review the output of "rukpakctl permissions demo --missing", and have a user who may grant these permissions apply it, or keep the objects: kubectl patch bundledeployment demo --type=merge --patch='{"spec":{"deletionPolicy":"Orphan"}}' (docs`,
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
  [
    'InstallFailed: ServiceAccount "deployer" in namespace "team-a" lacks permissions for this, nothing was changed: create, get configmaps (c) in namespace "team-a". "rukpakctl permissions demo --missing" prints them as RBAC objects',
    'review the output of "rukpakctl permissions demo --missing", and have a user who may grant these permissions apply it (docs/howto/service-accounts.md)',
  ],
  [
    'InstallFailed: ServiceAccount "deployer" in namespace "team-a", which spec.serviceAccount names, does not exist: nothing was changed',
    'kubectl create serviceaccount deployer --namespace team-a',
  ],
  [
    `InstallFailed: ${ownershipMessage([refused], aFailing().deployment, 'install')}`,
    'docs/howto/ownership.md',
  ],
  [
    'InstallFailed: required resource not found: namespaces "shop" not found',
    'kubectl create namespace shop: core continues',
  ],
  [
    noMatch('ClusterServiceVersion', 'operators.coreos.com/v1alpha1'),
    'this is an operator: rukpakctl run --bundle-provisioner-class core-rukpak-io-registry demo',
  ],
  [noMatch('Widget', 'example.com/v1'), 'install the provider of the kinds'],
  [
    'BundleLoadFailed: convert registry+v1 bundle to plain+v0 bundle: AllNamespace install mode must be enabled',
    'name one in spec.config.watchNamespace of BundleDeployment "demo"',
  ],
  [
    'BundleLoadFailed: convert registry+v1 bundle to plain+v0 bundle: supported install modes [AllNamespaces] do not support target namespaces [a]: write neither spec.config.watchNamespace nor watchNamespaces',
    'correct spec.config of BundleDeployment "demo"',
  ],
  [
    'BundleLoadFailed: parse deployment config: spec.config is an array: it must be an object',
    'correct spec.config of BundleDeployment "demo"',
  ],
  [
    'BundleLoadFailed: the operator needs APIs that the cluster does not serve: v1/Secret: install what provides it, and core continues by itself',
    'install what the condition names',
  ],
  [
    'BundleLoadFailed: the operator needs Kubernetes 1.40.0 or later (spec.minKubeVersion), and the cluster has 1.36.0: upgrade the cluster, or install an earlier version of the operator',
    'upgrade the cluster, or put an earlier version',
  ],
  [
    'InstallFailed: core runs with --certificates=cert-manager, and the cluster has no cert-manager (kinds Certificate and Issuer of cert-manager.io/v1): install it, or run core with --certificates=self',
    'core cannot issue the certificates',
  ],
  [
    'InstallFailed: annotation core.rukpak.io/serving-certificate of Service "x" in namespace "app" is "A Secret": it must be the name of a Secret, such as "webhook-cert"',
    'correct the annotation that the condition names',
  ],
];

test.each(ofDeployments)('%s', (message, cure) => {
  expect(cureOfDeployment(message, aFailing())).toContain(cure);
});

test('each row is the first that matches one of these messages', () => {
  const messages = ofDeployments.map(([message]) => message);
  expect(unreachedRows(deploymentCauses, messages)).toEqual([]);
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
