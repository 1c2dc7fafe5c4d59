import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import { beforeAll, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { addCoreFlags, type CoreFlags } from '../../cmd/flags/core-flags.ts';
import { addCrdvalidatorFlags, addWebhookFlags } from '../../cmd/flags/webhook-flags.ts';
import { addZoneFlags } from '../../cmd/flags/zone-flags.ts';
import { installManifests } from '../../deploy/install-manifests.ts';
import { installCrds } from '../helpers/install-crds.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { containerArgs, podSpecOf } from '../helpers/local-pod.ts';
import { plane } from '../helpers/plane.ts';
import { deployFolder, renderOverlay, renderWithComponent } from '../helpers/render-overlay.ts';

const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });

beforeAll(async () => {
  await installCrds(plane.kubeconfig);
  // Where a sample's ConfigMap is to be.
  const isNamespace = ({ kind }: KubernetesObject) => kind === 'Namespace';
  await kubectl.apply(...installManifests().filter(isNamespace));
});

/** A namespace that exists stands for one that a dry run does not make. */
function inNamespace(objects: readonly KubernetesObject[], namespace: string): KubernetesObject[] {
  const text = JSON.stringify(objects.filter(({ kind }) => kind !== 'Namespace'));
  const shipped = /"(?:rukpak|crdvalidator)-system"/g;
  return JSON.parse(text.replaceAll(shipped, JSON.stringify(namespace)));
}

async function dryRun(objects: readonly KubernetesObject[]): Promise<string> {
  const list = { apiVersion: 'v1', kind: 'List', items: objects };
  const { code, stdout, stderr } = await kubectl.run(
    [
      'apply',
      '--server-side',
      '--dry-run=server',
      '--force-conflicts',
      '--validate=strict',
      '-f',
      '-',
    ],
    JSON.stringify(list),
  );
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return stdout;
}

const isCertManagers = ({ apiVersion }: KubernetesObject) =>
  apiVersion.startsWith('cert-manager.io/');

const overlays = [
  'overlays/self-signed',
  'overlays/cert-manager',
  'overlays/self-signed-from-rukpak',
  'overlays/cert-manager-from-rukpak',
];

/** With other rights of core, or other processes. */
const otherOverlays = [
  'overlays/split',
  'overlays/impersonation',
  'overlays/operators-with-dependencies',
];

describe.each([...overlays, ...otherOverlays])('%s', (overlay) => {
  test('renders, and the API server takes every object', async () => {
    const objects = await renderOverlay(kubectl, overlay);
    const isElsewhere = ({ metadata }: KubernetesObject) => metadata.namespace === 'rukpak-uploads';
    const known = objects.filter((object) => !isCertManagers(object) && !isElsewhere(object));
    const printed = await dryRun(inNamespace(known, 'default'));
    expect(printed).toContain('deployment.apps/core serverside-applied');
    expect(printed).toContain('deployment.apps/rukpak-webhooks serverside-applied');
    expect(printed).toContain('deployment.apps/crd-validation-webhook serverside-applied');
    const namespaces = objects.filter(({ kind }) => kind === 'Namespace');
    await dryRun(namespaces);
    const names = namespaces.map(({ metadata }) => metadata.name);
    const uploads = overlay === 'overlays/split' ? ['rukpak-uploads'] : [];
    expect(new Set(names)).toEqual(new Set(['rukpak-system', 'crdvalidator-system', ...uploads]));
  });

  test('its pods keep to the restricted pod security standard', async () => {
    const namespace = `deploy-test-${randomUUID().slice(0, 8)}`;
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    await kubectl.apply({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace, labels },
    });
    try {
      const serviceAccount = { apiVersion: 'v1', kind: 'ServiceAccount' };
      for (const deployment of (await renderOverlay(kubectl, overlay)).filter(
        ({ kind }) => kind === 'Deployment',
      )) {
        const { template } = deployment['spec'] as { template: KubernetesObject };
        const { serviceAccountName } = template['spec'] as { serviceAccountName: string };
        const account = { ...serviceAccount, metadata: { name: serviceAccountName, namespace } };
        await kubectl.apply(account);
        const metadata = { name: `${deployment.metadata.name}`, namespace };
        await dryRun([{ ...template, apiVersion: 'v1', kind: 'Pod', metadata }]);
      }
    } finally {
      await kubectl.deleteNamed('namespace', [namespace], { wait: false });
    }
  });
});

describe.each(overlays)('the processes of %s', (overlay) => {
  let objects: readonly KubernetesObject[];

  beforeAll(async () => {
    objects = await renderOverlay(kubectl, overlay);
  });

  function find(kind: string, name: string): KubernetesObject {
    const found = objects.find((each) => each.kind === kind && each.metadata.name === name);
    if (found === undefined) throw new Error(`${overlay} has no ${kind} ${name}`);
    return found;
  }

  function portsOf(deployment: KubernetesObject): Readonly<Record<string, number>> {
    const [{ ports }] = podSpecOf(deployment).containers;
    return Object.fromEntries(ports.map(({ name, containerPort }) => [name, containerPort]));
  }

  test.each([
    { name: 'core', service: 'core', addFlags: addCoreFlags, flag: 'httpBindAddress' },
    {
      name: 'rukpak-webhooks',
      service: 'rukpak-webhook-service',
      addFlags: addWebhookFlags,
      flag: 'webhookBindAddress',
    },
    {
      name: 'crd-validation-webhook',
      service: 'crd-validation-webhook',
      addFlags: addCrdvalidatorFlags,
      flag: 'webhookBindAddress',
    },
  ])('$name listens where Service and probes look', ({ name, service, addFlags, flag }) => {
    const deployment = find('Deployment', name);
    const [, ...args] = containerArgs(deployment);
    const flags = addFlags(new Command()).parse(args, { from: 'user' }).opts();
    const { https, health, metrics } = portsOf(deployment);
    expect(flags).toMatchObject({ [flag]: `:${https}`, healthProbeBindAddress: `:${health}` });
    // Core's are on the port of its content server.
    const metricsBindAddress = metrics && `:${metrics}`;
    expect(flags).toMatchObject(name === 'core' ? {} : { metricsBindAddress });
    expect(find('Service', service)['spec']).toMatchObject({ ports: [{ targetPort: https }] });
  });

  test('core and what warns of deletions have the same defaults, and RukPak’s where it was', () => {
    const isNew = !overlay.endsWith('-from-rukpak');
    const prune = isNew ? { defaultPruneMaxPercent: 50 } : {};
    const policy = { defaultDeletionPolicy: isNew ? 'KeepCRDs' : 'Delete' };
    const argsOf = (name: string) => containerArgs(find('Deployment', name)).slice(1);
    const core = addCoreFlags(new Command()).parse(argsOf('core'), { from: 'user' }).opts();
    expect(core).toMatchObject({ ...prune, defaultConfirmData: isNew, ...policy });
    expect('defaultPruneMaxPercent' in core).toBe(isNew);
    const validator = addCrdvalidatorFlags(new Command());
    const args = argsOf('crd-validation-webhook');
    expect(validator.parse(args, { from: 'user' }).opts()).toMatchObject(policy);
  });

  test('core keeps content on a volume, under the address of its Service', () => {
    const deployment = find('Deployment', 'core');
    const [, ...args] = containerArgs(deployment);
    const flags: CoreFlags = addCoreFlags(new Command()).parse(args, { from: 'user' }).opts();
    const [{ volumeMounts = [] }] = podSpecOf(deployment).containers;
    expect(volumeMounts.map(({ mountPath }) => mountPath)).toContain(flags.provisionerStorageDir);
    expect(flags.httpExternalAddress).toBe('https://core.rukpak-system.svc');
  });
});

test('no role of overlay impersonation may do anything on anything', async () => {
  const roles = (await renderOverlay(kubectl, 'overlays/impersonation')).filter(({ kind }) =>
    kind.endsWith('Role'),
  );
  for (const { metadata, ...role } of roles) {
    const rules = (role['rules'] ?? []) as readonly Readonly<Record<string, readonly string[]>>[];
    for (const { apiGroups = [], resources = [], verbs = [] } of rules) {
      expect([...apiGroups, ...resources, ...verbs], metadata.name).not.toContain('*');
    }
  }
});

test('in overlay split, the flags of either process are those that it uses', async () => {
  const objects = await renderOverlay(kubectl, 'overlays/split');
  const argsOf = (name: string): readonly string[] => {
    const found = objects.find((each) => each.kind === 'Deployment' && each.metadata.name === name);
    return found === undefined ? [] : containerArgs(found);
  };
  for (const [name, command, zone] of [
    ['core', 'unpack', 'unpacking'],
    ['core-apply', 'apply', 'applying'],
  ] as const) {
    const [first, ...args] = argsOf(name);
    expect(first).toBe(command);
    const program = addZoneFlags(new Command(), zone);
    expect(program.parse(args, { from: 'user' }).opts()).toMatchObject({ leaderElect: true });
    const shown = program.helpInformation();
    for (const argument of args) expect(shown).toContain(`${argument.split('=')[0]} `);
  }
});

test('what is installed is part of what kustomize renders', async () => {
  const id = ({ kind, metadata }: KubernetesObject) => `${kind} ${metadata.name}`;
  const rendered = new Set((await renderOverlay(kubectl, 'overlays/self-signed')).map(id));
  for (const object of installManifests()) expect(rendered).toContain(id(object));
});

test.each(['self-signed', 'cert-manager'])('the guard of CRDs can be added to %s', async (name) => {
  const suffix = name === 'cert-manager' ? '-cert-manager' : '';
  const objects = await renderWithComponent(kubectl, name, `guard-crd-deletion${suffix}`);
  const find = (kind: string, of: string) =>
    objects.find((each) => each.kind === kind && each.metadata.name === of);
  const deployment = find('Deployment', 'crd-validation-webhook');
  expect(deployment && containerArgs(deployment)).toContain('--guard-crd-deletion');
  const guard = find('ValidatingWebhookConfiguration', 'crd-deletion-webhook');
  const injected = guard?.metadata.annotations?.['cert-manager.io/inject-ca-from'];
  expect(injected !== undefined).toBe(name === 'cert-manager');
  const installed = installManifests({ guardCrdDeletion: true }).at(-1);
  expect(guard?.['webhooks']).toEqual(installed?.['webhooks']);
});

interface NetworkPolicySpec {
  readonly podSelector: {
    readonly matchLabels?: Readonly<Record<string, string>>;
    readonly matchExpressions?: readonly {
      readonly key: string;
      readonly operator: 'In';
      readonly values: readonly string[];
    }[];
  };
  readonly ingress?: readonly { readonly ports: readonly { readonly port: number }[] }[];
}

function selects(
  { podSelector: { matchLabels = {}, matchExpressions = [] } }: NetworkPolicySpec,
  labels: Readonly<Record<string, string>>,
): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, values }) => values.includes(labels[key] ?? ''))
  );
}

test('network policies let through to the ports of pods, and to nothing else', async () => {
  const objects = await renderWithComponent(kubectl, 'self-signed', 'network-policies');
  const isPolicy = ({ kind }: KubernetesObject) => kind === 'NetworkPolicy';
  await dryRun(inNamespace(objects.filter(isPolicy), 'default'));
  for (const deployment of objects.filter(({ kind }) => kind === 'Deployment')) {
    const { namespace } = deployment.metadata;
    const { template } = deployment['spec'] as { template: KubernetesObject };
    const { labels = {} } = template.metadata;
    const policies = objects
      .filter((each) => isPolicy(each) && each.metadata.namespace === namespace)
      .map((policy) => policy['spec'] as NetworkPolicySpec)
      .filter((spec) => selects(spec, labels));
    // One lets nobody through, so that what no other names is denied.
    expect(policies.some(({ ingress }) => ingress === undefined)).toBe(true);
    const open = policies.flatMap(({ ingress = [] }) => ingress).flatMap(({ ports }) => ports);
    const [{ ports }] = podSpecOf(deployment).containers;
    // The kubelet needs no policy for its probes.
    const served = ports.filter(({ name }) => name !== 'health');
    expect(new Set(open.map(({ port }) => port))).toEqual(
      new Set(served.map(({ containerPort }) => containerPort)),
    );
  }
});

test('what is installed for a process outside the cluster is taken too', async () => {
  const objects = installManifests({ webhookUrl: 'https://127.0.0.1:9443' });
  const printed = await dryRun(inNamespace(objects, 'default'));
  expect(printed).toContain('rukpak-validating-webhook-configuration serverside-applied');
});

test('every sample is taken as it is', async () => {
  const samples = (await readdir(join(deployFolder, 'samples'))).filter((name) =>
    name.endsWith('.yaml'),
  );
  expect(samples).not.toEqual([]);
  for (const sample of samples) {
    const file = join(deployFolder, 'samples', sample);
    await kubectl.must(['apply', '--dry-run=server', '--validate=strict', '-f', file]);
  }
});
