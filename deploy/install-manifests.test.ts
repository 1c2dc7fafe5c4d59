import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { defaultMemoryBudget } from '../core/manager/index.ts';
import { everyManifest, installManifests } from './install-manifests.ts';

interface Webhook {
  readonly clientConfig: {
    readonly url?: string;
    readonly service?: { readonly namespace: string };
  };
}

interface RoleLike {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly rules?: readonly {
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

interface WithTemplate {
  readonly template: { readonly spec: { readonly topologySpreadConstraints?: unknown } };
}

function webhooksOf(options: Parameters<typeof installManifests>[0]): readonly Webhook[] {
  const found = installManifests(options).find(
    ({ kind }) => kind === 'ValidatingWebhookConfiguration',
  );
  return found?.['webhooks'] as readonly Webhook[];
}

function service(whose: 'rukpak' | 'crdvalidator', path: string): object {
  const place =
    whose === 'rukpak'
      ? { name: 'rukpak-webhook-service', namespace: 'rukpak-system' }
      : { name: 'crd-validation-webhook', namespace: 'crdvalidator-system', port: 9443 };
  return { service: { ...place, path } };
}

function rule(operations: readonly string[], groupVersion: string, resource: string): object {
  const [group, version] = groupVersion.split('/');
  return { apiGroups: [group], apiVersions: [version], operations, resources: [resource] };
}

test('kinds come before what needs them, and processes are not among them', () => {
  const kinds = installManifests().map(({ kind }) => kind);
  expect(kinds.slice(0, 3)).toEqual([
    'CustomResourceDefinition',
    'CustomResourceDefinition',
    'Namespace',
  ]);
  expect(kinds.at(-1)).toBe('ValidatingWebhookConfiguration');
  expect(kinds).not.toContain('Deployment');
  expect(kinds).not.toContain('Service');
});

test('every file of the base is installed or runs a process', () => {
  const base = parse(
    readFileSync(new URL('./base/kustomization.yaml', import.meta.url), 'utf8'),
  ) as { resources: string[] };
  const rest = base.resources.filter((file) => !/deployment|service|disruption|crds/.test(file));
  const names = installManifests().map(({ metadata }) => metadata.name);
  for (const file of rest) {
    const text = readFileSync(new URL(`./base/${file}`, import.meta.url), 'utf8');
    for (const [, name] of text.matchAll(/^metadata:\n {2}name: (.+)$/gm)) {
      expect(names).toContain(name);
    }
  }
});

test('a node can be drained, and two replicas are on two nodes if there are some', () => {
  const every = everyManifest('rukpak-system');
  const pods = every.filter(({ kind }) => kind === 'Deployment');
  expect(pods.length).toBeGreaterThan(4);
  const budgets = every.filter(({ kind }) => kind === 'PodDisruptionBudget');
  for (const { metadata, ...pod } of pods) {
    const { template } = pod['spec'] as WithTemplate;
    const app = { matchLabels: { app: metadata.name } };
    expect(budgets.find(({ metadata: { name } }) => name === metadata.name)?.['spec']).toEqual({
      maxUnavailable: 1,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector: app,
    });
    expect(template.spec.topologySpreadConstraints).toMatchObject([{ labelSelector: app }]);
  }
});

test('core without rights of its own watches the Secrets that charts take values from', () => {
  const text = readFileSync(
    new URL('./overlays/impersonation/core-rbac.yaml', import.meta.url),
    'utf8',
  );
  const roles = parseAllDocuments(text).map((each) => each.toJS() as RoleLike);
  const system = roles.find(
    ({ kind, metadata: { name } }) => kind === 'Role' && name === 'core-system',
  );
  const secrets = system?.rules?.find(({ resources }) => resources.includes('secrets'));
  expect(secrets?.verbs).toEqual(expect.arrayContaining(['get', 'list', 'watch']));
});

test('the webhooks, which everybody reaches, read ConfigMaps of the system namespace alone', () => {
  const roles = installManifests().filter(({ metadata }) =>
    metadata.name?.startsWith('rukpak-webhooks'),
  );
  const ofConfigMaps = roles.filter((role) => JSON.stringify(role).includes('"configmaps"'));
  expect(ofConfigMaps.map(({ kind, metadata }) => [kind, metadata.namespace])).toEqual([
    ['Role', 'rukpak-system'],
  ]);
});

test('webhooks are called through the Service, or at a URL', () => {
  expect(webhooksOf({}).map(({ clientConfig }) => clientConfig.service?.namespace)).toEqual([
    'rukpak-system',
    'rukpak-system',
    'rukpak-system',
    'rukpak-system',
  ]);
  const webhooks = webhooksOf({ webhookUrl: 'https://127.0.0.1:9443/' });
  expect(webhooks.map(({ clientConfig }) => clientConfig)).toEqual([
    { url: 'https://127.0.0.1:9443/validate-core-rukpak-io-v1alpha1-bundle' },
    { url: 'https://127.0.0.1:9443/validate-core-rukpak-io-v1alpha1-bundledeployment' },
    { url: 'https://127.0.0.1:9443/validate-core-v1-configmap' },
    { url: 'https://127.0.0.1:9443/validate-system-deletion' },
  ]);
});

test('the API server asks what RukPak’s users know, and refuses while nobody answers', () => {
  const configurations = installManifests().filter(
    ({ kind }) => kind === 'ValidatingWebhookConfiguration',
  );
  const always = { admissionReviewVersions: ['v1'], failurePolicy: 'Fail', sideEffects: 'None' };
  const [bundles, deployments, configMaps, system] = webhooksOf({});
  expect(configurations.map(({ metadata }) => metadata.name)).toEqual([
    'rukpak-validating-webhook-configuration',
    'crd-validation-webhook',
  ]);
  expect(bundles).toMatchObject({
    ...always,
    name: 'vbundles.core.rukpak.io',
    clientConfig: service('rukpak', '/validate-core-rukpak-io-v1alpha1-bundle'),
    matchConditions: [{ name: 'spec-or-pin-changes' }],
    rules: [rule(['CREATE', 'UPDATE'], 'core.rukpak.io/v1alpha1', 'bundles')],
  });
  expect(deployments).toMatchObject({
    ...always,
    name: 'vbundledeployments.core.rukpak.io',
    clientConfig: service('rukpak', '/validate-core-rukpak-io-v1alpha1-bundledeployment'),
    matchConditions: [{ name: 'spec-or-annotations-change' }],
    rules: [rule(['CREATE', 'UPDATE'], 'core.rukpak.io/v1alpha1', 'bundledeployments')],
  });
  expect(configMaps).toMatchObject({
    ...always,
    name: 'vconfigmaps.core.rukpak.io',
    clientConfig: service('rukpak', '/validate-core-v1-configmap'),
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'rukpak-system' } },
    rules: [rule(['CREATE', 'DELETE'], '/v1', 'configmaps')],
  });
  expect(system).toMatchObject({
    ...always,
    name: 'vdeletions.core.rukpak.io',
    clientConfig: service('rukpak', '/validate-system-deletion'),
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'rukpak-system' } },
    matchConditions: [{ name: 'of-the-system' }],
    rules: [
      rule(['DELETE'], 'apiextensions.k8s.io/v1', 'customresourcedefinitions'),
      rule(['DELETE'], '/v1', 'namespaces'),
    ],
  });
  expect(configurations[1]?.['webhooks']).toMatchObject([
    {
      ...always,
      name: 'webhook.crdvalidator.io',
      clientConfig: service('crdvalidator', '/validate-crd'),
      objectSelector: { matchLabels: { 'core.rukpak.io/owner-kind': 'BundleDeployment' } },
      rules: [rule(['CREATE', 'UPDATE'], 'apiextensions.k8s.io/v1', 'customresourcedefinitions')],
    },
    {
      name: 'deletions.crdvalidator.io',
      clientConfig: service('crdvalidator', '/warn-bundledeployment-deletion'),
      failurePolicy: 'Ignore',
      sideEffects: 'None',
      rules: [rule(['DELETE'], 'core.rukpak.io/v1alpha1', 'bundledeployments')],
    },
  ]);
});

test('who changed a deployment is noted where that can be, and nobody waits for it', () => {
  const [found, ...others] = installManifests({ webhookUrl: 'https://127.0.0.1:9443' }).filter(
    ({ kind }) => kind === 'MutatingWebhookConfiguration',
  );
  expect(others).toEqual([]);
  expect(found?.['webhooks']).toMatchObject([
    {
      name: 'mbundledeployments.core.rukpak.io',
      clientConfig: {
        url: 'https://127.0.0.1:9443/mutate-core-rukpak-io-v1alpha1-bundledeployment',
      },
      failurePolicy: 'Ignore',
      sideEffects: 'None',
      rules: [rule(['CREATE', 'UPDATE'], 'core.rukpak.io/v1alpha1', 'bundledeployments')],
    },
  ]);
});

test('CRDs are validated through their own Service, or at the same URL; a guard comes when asked', () => {
  const found = (options: Parameters<typeof installManifests>[0]) =>
    installManifests(options)
      .filter(({ kind }) => kind === 'ValidatingWebhookConfiguration')
      .slice(1)
      .flatMap((each) => each['webhooks'] as readonly Webhook[]);
  expect(found({}).map(({ clientConfig }) => clientConfig.service?.namespace)).toEqual([
    'crdvalidator-system',
    'crdvalidator-system',
  ]);
  const webhookUrl = 'https://127.0.0.1:9443';
  const urls = found({ webhookUrl, guardCrdDeletion: true }).map(
    ({ clientConfig }) => clientConfig.url,
  );
  expect(urls).toEqual([
    `${webhookUrl}/validate-crd`,
    `${webhookUrl}/warn-bundledeployment-deletion`,
    `${webhookUrl}/validate-crd-deletion`,
  ]);
});

test.each([
  ['http://127.0.0.1:9443'],
  ['127.0.0.1:9443'],
  ['https://x/?a=b'],
  ['https://u@x'],
  [''],
])('the webhook URL "%s" is refused with the way out', (webhookUrl) => {
  expect(() => installManifests({ webhookUrl })).toThrow('must look like https://HOST:PORT');
});

test('kinds and permissions of operators come on request alone, CRDs before what needs them', () => {
  const names = installManifests().map(({ metadata }) => metadata.name);
  expect(names.join()).not.toMatch(/operatorframework\.io|rukpak-operators/);
  const added = installManifests({ operators: true }).slice(installManifests().length);
  expect(added.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
    'CustomResourceDefinition catalogs.catalogd.operatorframework.io',
    'CustomResourceDefinition operators.operators.operatorframework.io',
    'CustomResourceDefinition clustercatalogs.olm.operatorframework.io',
    'CustomResourceDefinition clusterextensions.olm.operatorframework.io',
    'ServiceAccount rukpak-operators',
    'ClusterRole rukpak-operators',
    'ClusterRoleBinding rukpak-operators',
    'Role rukpak-operators',
    'RoleBinding rukpak-operators',
  ]);
  const dependencies = { operators: true, installDependencies: true };
  expect(
    installManifests(dependencies)
      .slice(installManifests({ operators: true }).length)
      .map(({ kind, metadata }) => `${kind} ${metadata.name}`),
  ).toEqual([
    'ClusterRole rukpak-operators-dependencies',
    'ClusterRoleBinding rukpak-operators-dependencies',
  ]);
});

test('the process of operators may delete nothing, or Operators alone, and not write the objects of bundles', () => {
  const rolesOf = (installDependencies: boolean) =>
    installManifests({ operators: true, installDependencies }).filter(
      ({ kind, metadata }) =>
        kind.endsWith('Role') && metadata.name?.startsWith('rukpak-operators'),
    );
  const rulesOf = (installDependencies: boolean) =>
    rolesOf(installDependencies).flatMap(({ rules }) => rules as readonly Rule[]);
  const may = (verb: string, rules: readonly Rule[]) =>
    rules.flatMap(({ verbs, resources }) => (verbs.includes(verb) ? resources : []));
  const rules = rulesOf(true);
  expect(may('create', rulesOf(false))).toEqual(['bundledeployments', 'events', 'leases']);
  expect(may('delete', rulesOf(false))).toEqual([]);
  expect(may('delete', rules)).toEqual(['operators']);
  expect(rules.filter((rule) => JSON.stringify(rule).includes('*'))).toEqual([]);
  const secrets = rules.filter(({ resources }) => resources.includes('secrets'));
  expect(secrets.map(({ verbs }) => verbs)).toEqual([['get']]);
  const ofSecrets = rolesOf(true).filter((role) => JSON.stringify(role).includes('"secrets"'));
  expect(ofSecrets.map(({ kind, metadata }) => [kind, metadata.namespace])).toEqual([
    ['Role', 'rukpak-system'],
  ]);
});

interface Rule {
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

test('core reads archives with its token, and no uploads', () => {
  const role = installManifests({}).find(
    ({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'core-admin',
  );
  const rules = (role?.['rules'] ?? []) as readonly { readonly nonResourceURLs?: string[] }[];
  expect(rules.flatMap(({ nonResourceURLs = [] }) => nonResourceURLs)).toEqual(['/bundles/*']);
});

test('another system namespace is named everywhere', () => {
  const text = JSON.stringify(installManifests({ systemNamespace: 'my-system' }));
  expect(text).not.toContain('"rukpak-system"');
  expect(text).toContain('{"kubernetes.io/metadata.name":"my-system"}');
  expect(text).toContain('"kind":"ServiceAccount","name":"core-admin","namespace":"my-system"');
});

test('whatever a file of an overlay makes is known to those who take it away', () => {
  const names = everyManifest('rukpak-system').map(
    ({ kind, metadata }) => `${kind} ${metadata.name}`,
  );
  const folders = ['base/core', 'base/webhooks', 'base/crdvalidator', 'base', 'operators'];
  const overlays = [
    'overlays/self-signed',
    'overlays/cert-manager',
    'overlays/split',
    'overlays/impersonation',
    'components/guard-crd-deletion',
    'components/network-policies',
    'components/operators',
    'components/operators-cert-manager',
    'components/install-dependencies',
  ];
  for (const folder of [...folders, ...overlays]) {
    for (const file of readdirSync(new URL(folder, import.meta.url))) {
      if (!file.endsWith('.yaml') || /^kustomization|-patch/.test(file)) continue;
      const text = readFileSync(new URL(`${folder}/${file}`, import.meta.url), 'utf8');
      for (const [, kind, name] of text.matchAll(/^kind: (.+)\nmetadata:\n {2}name: (.+)$/gm)) {
        expect(names).toContain(`${kind} ${name}`);
      }
    }
  }
});

test('every container has a memory limit and every emptyDir a size; core keeps half for itself', () => {
  const deployments = everyManifest('rukpak-system').filter(({ kind }) => kind === 'Deployment');
  const limits = deployments.map((deployment) => {
    const { containers, volumes = [] } = (deployment as unknown as ShippedDeployment).spec.template
      .spec;
    for (const { emptyDir } of volumes) {
      if (emptyDir !== undefined) expect(emptyDir.sizeLimit).toMatch(/^[0-9]+Gi$/);
    }
    return [
      deployment.metadata.name,
      ...containers.map(({ resources }) => resources.limits.memory),
    ];
  });
  expect(limits).toEqual([
    ['core-apply', '2Gi'],
    ['rukpak-operators', '2Gi'],
    ['core', '2Gi'],
    ['rukpak-webhooks', '1Gi'],
    ['crd-validation-webhook', '1Gi'],
  ]);
  expect(defaultMemoryBudget(2 * 1024 ** 3)).toBe(1024 ** 3);
  expect(defaultMemoryBudget(0)).toBe(1024 ** 3);
  expect(defaultMemoryBudget(2 ** 62)).toBe(1024 ** 3);
});

interface ShippedDeployment {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly { resources: { limits: { memory: string } } }[];
        readonly volumes?: readonly { emptyDir?: { sizeLimit?: string } }[];
      };
    };
  };
}
