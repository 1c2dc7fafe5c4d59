import type { Kubectl } from '../kubectl.ts';

const namespace = 'rukpak-system';

/** RukPak v0.16.0's own objects, as far as ours have the same names. */
function installation(): readonly object[] {
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'crdvalidator-system' } },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/dockerconfigjson',
      metadata: { name: 'former-pull', namespace },
      data: { '.dockerconfigjson': btoa('{"auths":{}}') },
    },
    aCRD('Bundle'),
    aCRD('BundleDeployment', { shortNames: ['bd', 'bds'] }),
    ...aProgram({ name: 'core', app: 'core', command: '/core', sidecar: true }),
    ...aProgram({
      name: 'helm-provisioner',
      app: 'helm-provisioner',
      command: '/helm',
      sidecar: true,
    }),
    ...aProgram({ name: 'rukpak-webhooks', app: 'webhooks', command: '/webhooks', sidecar: false }),
    aService('core', 'core', 8443),
    aService('helm-provisioner', 'helm-provisioner', 8443),
    aService('rukpak-webhook-service', 'webhooks', 9443),
    {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'core.rukpak.io', namespace },
      spec: {
        holderIdentity: 'core-0_former',
        leaseDurationSeconds: 15,
        acquireTime: '2023-11-14T22:13:20.000000Z',
        renewTime: '2023-11-14T22:13:20.000000Z',
      },
    },
  ];
}

/** The fields that all of v0.16's objects have; the rest of the schema is open. */
function aCRD(kind: string, names: object = {}): object {
  const plural = `${kind.toLowerCase()}s`;
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const properties = { spec: open, status: open };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.core.rukpak.io`,
      annotations: { 'controller-gen.kubebuilder.io/version': 'v0.12.0' },
    },
    spec: {
      group: 'core.rukpak.io',
      scope: 'Cluster',
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase(), ...names },
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: [
            { name: 'Former', type: 'string', jsonPath: '.spec.provisionerClassName' },
          ],
          schema: { openAPIV3Schema: { type: 'object', required: ['spec'], properties } },
        },
      ],
    },
  };
}

interface Program {
  readonly name: string;
  /** Of the selector: it cannot be changed. */
  readonly app: string;
  readonly command: string;
  readonly sidecar: boolean;
}

function aProgram({ name, app, command, sidecar }: Program): readonly object[] {
  const account = `${name}-admin`;
  const proxy = { name: 'kube-rbac-proxy', image: 'quay.io/brancz/kube-rbac-proxy:v0.15.0' };
  const image = 'quay.io/operator-framework/rukpak:v0.16.0';
  const containers = [...(sidecar ? [proxy] : []), { name: 'manager', image, command: [command] }];
  const metadata = { name: account };
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: account };
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account, namespace } },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata,
      rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef,
      subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, namespace, labels: { app } },
      spec: {
        replicas: 1,
        selector: { matchLabels: { app } },
        template: {
          metadata: { labels: { app } },
          spec: { serviceAccountName: account, containers },
        },
      },
    },
  ];
}

function aService(name: string, app: string, targetPort: number): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace },
    spec: { selector: { app }, ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort }] },
  };
}

/** It refuses everything that it judges, as nobody answers: for when all else is there. */
function webhookConfiguration(): object {
  const client = { service: { name: 'rukpak-webhook-service', namespace } };
  const common = { admissionReviewVersions: ['v1'], failurePolicy: 'Fail', sideEffects: 'None' };
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: {
      name: 'rukpak-validating-webhook-configuration',
      annotations: { 'cert-manager.io/inject-ca-from': `${namespace}/rukpak-webhook-certificate` },
    },
    webhooks: [
      {
        ...common,
        name: 'vbundles.core.rukpak.io',
        clientConfig: client,
        rules: [
          {
            apiGroups: ['core.rukpak.io'],
            apiVersions: ['v1alpha1'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['bundles'],
          },
        ],
      },
    ],
  };
}

/** Installs as its documentation says: by a client-side apply. */
export async function installFormerRukpak(kubectl: Kubectl): Promise<void> {
  await applyList(kubectl, installation());
  const crds = ['crd/bundles.core.rukpak.io', 'crd/bundledeployments.core.rukpak.io'];
  await kubectl.must(['wait', '--for=condition=Established', '--timeout=180s', ...crds]);
}

export async function installFormerWebhooks(kubectl: Kubectl): Promise<void> {
  await applyList(kubectl, [webhookConfiguration()]);
}

async function applyList(kubectl: Kubectl, items: readonly object[]): Promise<void> {
  const list = { apiVersion: 'v1', kind: 'List', items };
  await kubectl.must(['apply', '-f', '-'], JSON.stringify(list));
}
