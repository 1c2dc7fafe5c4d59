import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { gvkOf } from '../../api/gvk.ts';
import { fieldAt } from '../../api/json-fields.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import { ApiError, type ObjectKey, type Resource } from '../../core/platform/kube/index.ts';
import { installManifests } from '../../deploy/install-manifests.ts';
import { anObjectOf, FakeApiServer } from '../../test/helpers/fake-api-server.ts';
import { applyBinding } from './bindings.ts';
import { install } from './install.ts';
import { narrowedObject } from './narrowed-objects.ts';
import { newerDefinition } from './newer-definition.ts';

const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1', namespaced: false } as const;
const roles: Resource = { ...rbac, kind: 'ClusterRole', plural: 'clusterroles' };
const bindings: Resource = { ...rbac, kind: 'ClusterRoleBinding', plural: 'clusterrolebindings' };
const webhooks: Resource = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingWebhookConfiguration',
  plural: 'validatingwebhookconfigurations',
  namespaced: false,
};
const webhooksName = 'rukpak-validating-webhook-configuration';

function manifestOf(kind: string, name: string): KubernetesObject {
  const found = installManifests().find(
    (each) => each.kind === kind && each.metadata.name === name,
  );
  if (found === undefined) throw new Error(`no ${kind} ${name}`);
  return found;
}

interface Operation {
  readonly path: string;
  readonly value: unknown;
}

async function overlayFile(path: string): Promise<unknown> {
  return parse(await readFile(new URL(`../../deploy/overlays/${path}`, import.meta.url), 'utf8'));
}

/** ClusterRole `core-admin` of overlay impersonation. */
async function impersonatingRole(): Promise<KubernetesObject> {
  const patch = await overlayFile('impersonation/core-cluster-role-patch.yaml');
  const [{ value }] = patch as [Operation];
  return { ...manifestOf('ClusterRole', 'core-admin'), rules: value };
}

/** The webhooks of overlay split, which guard the namespace of the uploads as well. */
async function splitWebhooks(): Promise<KubernetesObject> {
  const { patches } = (await overlayFile('split/kustomization.yaml')) as {
    readonly patches: readonly { readonly target?: { kind: string }; readonly patch: string }[];
  };
  const { patch = '' } = patches.find(({ target }) => target?.kind === webhooks.kind) ?? {};
  const selector = (parse(patch) as readonly Operation[]).find(({ path }) =>
    path.endsWith('/namespaceSelector'),
  );
  const manifest = manifestOf(webhooks.kind, webhooksName);
  return {
    ...manifest,
    webhooks: (manifest['webhooks'] as readonly { readonly name: string }[]).map((webhook) =>
      webhook.name.startsWith('vdeletions')
        ? { ...webhook, namespaceSelector: selector?.value }
        : webhook,
    ),
  };
}

function boundElsewhere(): KubernetesObject {
  const binding = manifestOf('ClusterRoleBinding', 'core-admin');
  return { ...binding, roleRef: { kind: 'ClusterRole', name: 'core-own' } };
}

const ours = { kind: 'ServiceAccount', name: 'core-admin', namespace: 'rukpak-system' };
const theirs = { kind: 'ServiceAccount', name: 'deployer', namespace: 'tools' };
const group = { kind: 'Group', name: 'ops', apiGroup: rbac.group };
const warn = vi.fn<(line: string) => void>();
const output = { print: () => undefined, warn };
let api: FakeApiServer;

beforeAll(async () => {
  api = await FakeApiServer.start();
});

beforeEach(() => {
  api.reset();
  warn.mockClear();
});

afterAll(() => api.stop());

/** Puts the release's objects on the API server, these in place of its own. */
function putInstalled(...others: readonly KubernetesObject[]): void {
  for (const manifest of installManifests()) {
    const isOther = ({ kind, metadata }: KubernetesObject) =>
      kind === manifest.kind && metadata.name === manifest.metadata.name;
    const object = others.find(isOther) ?? manifest;
    const plural = `${object.kind.toLowerCase()}s`;
    const namespaced = object.metadata.namespace !== undefined;
    const conditions = [{ type: 'Established', status: 'True' }];
    api.put(
      { ...gvkOf(object), plural, namespaced },
      object.kind === 'CustomResourceDefinition' ? { ...object, status: { conditions } } : object,
    );
  }
}

describe('an installation on one whose bindings have subjects of others', () => {
  const options = { systemNamespace: 'rukpak-system', guardCrdDeletion: false, dryRun: false };
  const inNamespace = {
    ...bindings,
    kind: 'RoleBinding',
    plural: 'rolebindings',
    namespaced: true,
  };

  test('keeps them, and says so', async () => {
    const name = 'rukpak-webhooks-configmaps';
    putInstalled(
      { ...manifestOf('ClusterRoleBinding', 'core-admin'), subjects: [theirs, ours, group] },
      { ...manifestOf('RoleBinding', name), subjects: [theirs] },
    );
    await install({ ...options, kubeconfig: api.kubeconfig }, output);
    expect(api.get(bindings, 'core-admin')?.['subjects']).toEqual([theirs, ours, group]);
    expect(api.get(inNamespace, name, 'rukpak-system')?.['subjects']).toEqual([
      theirs,
      { ...ours, name: 'rukpak-webhooks-admin' },
    ]);
    expect(warn.mock.calls.flat()).toEqual([
      'ClusterRoleBinding "core-admin" also binds ServiceAccount "tools/deployer", Group "ops", which this release does not name: kept. Remove subjects that you do not need with "kubectl edit"',
      `RoleBinding "rukpak-system/${name}" also binds ServiceAccount "tools/deployer", which this release does not name: kept. Remove subjects that you do not need with "kubectl edit"`,
    ]);
  });

  test('reads each binding once, and says nothing about its own', async () => {
    putInstalled();
    await install({ ...options, kubeconfig: api.kubeconfig }, output);
    const reads = api.requests.filter(
      ({ method, path }) => method === 'GET' && path.includes('rolebindings/'),
    );
    expect(reads.map(({ path }) => path)).toEqual([...new Set(reads.map(({ path }) => path))]);
    expect(warn).not.toHaveBeenCalled();
  });

  test('keeps one that is added between its read and its write', async () => {
    const manifest = manifestOf('ClusterRoleBinding', 'core-admin');
    const versionOf = (resourceVersion: string, ...subjects: readonly object[]) => ({
      ...manifest,
      metadata: { ...manifest.metadata, resourceVersion },
      subjects,
    });
    const known = { get: async () => versionOf('1', ours) };
    let live = versionOf('2', ours, theirs);
    const client = {
      get: async () => live,
      apply: async (_: Resource, object: KubernetesObject) => {
        if (object.metadata.resourceVersion !== '2')
          throw new ApiError(409, { reason: 'Conflict' });
        live = object as typeof live;
        return live;
      },
    };
    const writer = { client, known, fieldManager: 'test', warn };
    await applyBinding({ resource: bindings, manifest }, writer);
    expect(live.subjects).toEqual([ours, theirs]);
  });
});

describe('an installation on a cluster that is stricter', () => {
  test.each<[string, Resource, () => KubernetesObject | Promise<KubernetesObject>, string]>([
    [
      'a role of overlay impersonation',
      roles,
      impersonatingRole,
      'ClusterRole "core-admin" limits what core may do, and this installation would give it full access',
    ],
    [
      'a binding to another role',
      bindings,
      boundElsewhere,
      'ClusterRoleBinding "core-admin" does not bind core’s account to its role, and this installation would give it full access',
    ],
    [
      'a webhook of overlay split',
      webhooks,
      splitWebhooks,
      `ValidatingWebhookConfiguration "${webhooksName}" also guards namespace "rukpak-uploads", and this installation would no longer guard it`,
    ],
  ])('by %s applies nothing', async (...[, resource, live, reason]) => {
    api.put(resource, await live());
    const { kubeconfig } = api;
    const systemNamespace = 'rukpak-system';
    const options = { kubeconfig, systemNamespace, guardCrdDeletion: false, dryRun: false };
    await expect(install(options, output)).rejects.toThrow(
      `nothing is applied: ${reason}: apply the overlay that it comes from, or delete it first to lift the restriction`,
    );
    expect(api.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });
});

describe('an installation on one whose webhooks run outside the cluster', () => {
  const options = { systemNamespace: 'rukpak-system', guardCrdDeletion: false, dryRun: false };
  const webhookUrl = 'https://192.0.2.1:9443';

  /** Puts an installation with that URL. */
  function putOutside(): void {
    const kind = /WebhookConfiguration$/;
    putInstalled(...installManifests({ webhookUrl }).filter((each) => kind.test(each.kind)));
  }

  test('applies nothing without their URL: the API server would refuse what they check', async () => {
    putOutside();
    await expect(install({ ...options, kubeconfig: api.kubeconfig }, output)).rejects.toThrow(
      `nothing is applied: MutatingWebhookConfiguration "rukpak-mutating-webhook-configuration" calls ${webhookUrl}, and this installation would call Service "rukpak-system/rukpak-webhook-service" instead: pass --webhook-url=${webhookUrl}, or delete the configuration first`,
    );
    expect(api.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  test.each([webhookUrl, 'https://192.0.2.2:9443'])('goes on with %s', async (url) => {
    putOutside();
    await install({ ...options, kubeconfig: api.kubeconfig, webhookUrl: url }, output);
  });
});

describe('an installation with --webhook-url on one whose webhooks run in the cluster', () => {
  const options = { systemNamespace: 'rukpak-system', guardCrdDeletion: false, dryRun: false };
  const webhookUrl = 'https://127.0.0.1:9443';
  const services = { group: '', version: 'v1', kind: 'Service', plural: 'services' };

  test('applies nothing: the API server would no longer reach them', async () => {
    putInstalled();
    const metadata = { namespace: 'rukpak-system' };
    const service = { ...services, namespaced: true };
    api.put(service, anObjectOf(service, 'rukpak-webhook-service', { metadata }));
    const run = install({ ...options, webhookUrl, kubeconfig: api.kubeconfig }, output);
    await expect(run).rejects.toThrow(
      `nothing is applied: MutatingWebhookConfiguration "rukpak-mutating-webhook-configuration" calls Service "rukpak-system/rukpak-webhook-service", which exists, and this installation would call ${webhookUrl} instead: name the cluster that you mean with --context or --kubeconfig, or first run "rukpak uninstall", which keeps everything that is installed`,
    );
    expect(api.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  test('goes on if their Service is gone, as after an uninstallation', async () => {
    putInstalled();
    await install({ ...options, webhookUrl, kubeconfig: api.kubeconfig }, output);
  });
});

describe('an installation on CRDs of a newer version', () => {
  const options = { systemNamespace: 'rukpak-system', guardCrdDeletion: false, dryRun: false };
  const name = 'bundledeployments.core.rukpak.io';

  /** The CRD with a field more in its spec or status. */
  function withField(place: 'spec' | 'status'): KubernetesObject {
    const definition = structuredClone(manifestOf('CustomResourceDefinition', name));
    const versions = fieldAt(definition['spec'], 'versions');
    const schema = fieldAt(listed(versions)[0], 'schema', 'openAPIV3Schema');
    const fields = fieldAt(schema, 'properties', place, 'properties');
    Object.assign(fields as object, { guard: { properties: { when: { type: 'string' } } } });
    return definition;
  }

  test('applies nothing: the API server would drop fields of users', async () => {
    putInstalled(withField('spec'));
    await expect(install({ ...options, kubeconfig: api.kubeconfig }, output)).rejects.toThrow(
      `nothing is applied: CustomResourceDefinition "${name}" is of a newer version: it also has spec.guard, spec.guard.when, which the API server would drop from all objects. Install with that version; to go back nevertheless, first run kubectl apply --server-side --force-conflicts with the CRDs of this version`,
    );
    expect(api.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  test('goes on if only the status has more: core writes it again', async () => {
    putInstalled(withField('status'));
    await install({ ...options, kubeconfig: api.kubeconfig }, output);
  });

  test('of another project replaces them', async () => {
    const [manifest] = installManifests({ operators: true }).filter(
      ({ metadata }) => metadata.name === 'clusterextensions.olm.operatorframework.io',
    );
    const theirs = structuredClone(manifest) as KubernetesObject;
    const schema = fieldAt(listed(fieldAt(theirs['spec'], 'versions'))[0], 'schema');
    const fields = fieldAt(schema, 'openAPIV3Schema', 'properties', 'spec', 'properties');
    Object.assign(fields as object, { extra: { type: 'object' } });
    const judge = async (live: KubernetesObject) =>
      await newerDefinition({ get: async () => live }, [manifest as KubernetesObject]);
    expect(await judge(theirs)).toContain('spec.extra');
    expect(await judge({ ...theirs, metadata: { name: 'x' } })).toBeUndefined();
  });
});

test.each<[string, readonly KubernetesObject[]]>([
  ['a new cluster', []],
  ['its own installation', installManifests()],
  [
    'an earlier version, which needed fewer permissions',
    installManifests().map((each) =>
      each.kind === 'ClusterRole' ? { ...each, rules: listed(each['rules']).slice(0, 1) } : each,
    ),
  ],
  [
    'an installation with more accounts',
    installManifests().map((each) =>
      each.kind === 'ClusterRoleBinding'
        ? { ...each, subjects: [{ kind: 'Group', name: 'ops' }, ...listed(each['subjects'])] }
        : each,
    ),
  ],
])('an installation takes nothing back from %s', async (_case, live) => {
  const get = async ({ kind }: Resource, { name }: ObjectKey): Promise<KubernetesObject> => {
    const found = live.find((each) => each.kind === kind && each.metadata.name === name);
    if (found !== undefined) return found;
    throw new ApiError(404, { message: `${name} not found` });
  };
  expect(await narrowedObject({ get }, installManifests())).toBeUndefined();
});

function listed(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
