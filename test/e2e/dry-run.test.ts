import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import type { BundleDeploymentSpec } from '../../api/v1alpha1/bundle-deployment.ts';
import type { deploymentPolicies } from '../../api/v1alpha1/deployment-policies.ts';
import { type ApiRequest, AuditLog, isWrite } from '../helpers/audit-log.ts';
import { eventually } from '../helpers/eventually.ts';
import { everyObject } from '../helpers/every-object.ts';
import { followHowto } from '../helpers/howto.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aBundle, aBundleDeployment, aConfigMap } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { plainFiles, pushContent } from '../helpers/push-content.ts';
import { System } from '../helpers/system.ts';

const kubeconfig = plane.kubeconfig;
const registry = plane.registry;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const audit = new AuditLog(plane.clusterDir);
const name = 'dry-installed';

/** Every field that a BundleDeployment may have beyond RukPak's. */
const policies = {
  paused: false,
  upgradePolicy: 'Manual',
  rollback: { deadline: '5m' },
  revisionHistoryLimit: 3,
  dependsOn: [{ name: 'other' }],
  stages: { waitForReady: true },
  serviceAccount: { namespace: 'default', name: 'default' },
  installNamespace: 'default',
  adoption: 'Unowned',
  drift: { mode: 'Warn', ignore: [{ kind: 'ConfigMap', paths: ['/data/a'] }] },
  prune: { maxPercent: 10, confirmData: true },
  deletionPolicy: 'KeepCRDs',
  health: { progressDeadline: '5m', rules: [{ kind: 'ConfigMap', healthy: 'true' }] },
} satisfies Record<keyof typeof deploymentPolicies, unknown> & Partial<BundleDeploymentSpec>;

let system: System;
let installed: KubernetesObject & { readonly spec: object };

beforeAll(async () => {
  system = await System.start({ kubeconfig, registry });
  installed = await aStored(name);
  await kubectl.apply(installed);
  await eventually(async () => {
    const live = await kubectl.get('bundledeployment', name);
    expect(conditionOf(live, 'Healthy')?.status).toBe('True');
  });
  // What other tests have left goes in its own time, and Events come a moment late.
  await eventually(async () => {
    const before = await versions();
    await delay(3_000);
    expect(await versions()).toEqual(before);
  });
});

afterAll(async () => {
  for (const kind of ['bundledeployments', 'bundles']) {
    await kubectl.deleteAll(kind, { ignoreNotFound: true });
  }
  await system?.stop();
});

async function aStored(name: string): Promise<typeof installed> {
  const files = plainFiles([aConfigMap(name, { a: '1' })]);
  const source = await pushContent({ registry, name, version: 1, files });
  return aBundleDeployment({ name, source }) as typeof installed;
}

/** A question of the webhooks, which stores nothing. */
function isStored(request: ApiRequest): boolean {
  return isWrite(request) && !/leases|reviews$/.test(request.resource);
}

type Objects = ReadonlyMap<string, KubernetesObject>;

async function stillObjects(): Promise<Objects> {
  const objects = [...(await everyObject(kubectl))];
  // Nodes tell of themselves all the time.
  return new Map(objects.filter(([id]) => !/^(Node|NodeMetrics|CSINode)\b/.test(id)));
}

async function versions(): Promise<Readonly<Record<string, string | undefined>>> {
  const objects = [...(await stillObjects())];
  return Object.fromEntries(objects.map(([id, { metadata }]) => [id, metadata.resourceVersion]));
}

/** What is new, changed or gone; what other tests have left may still be on its way out. */
function differences(before: Objects, after: Objects): readonly string[] {
  const written = [...after].filter(([id, object]) => {
    const { deletionTimestamp, resourceVersion } = object.metadata;
    if (deletionTimestamp !== undefined && !isOwn(object)) return false;
    return before.get(id)?.metadata.resourceVersion !== resourceVersion;
  });
  const gone = [...before].filter(([id, object]) => isOwn(object) && !after.has(id));
  return [...written, ...gone].map(([id]) => id);
}

function isOwn({ kind, metadata }: KubernetesObject): boolean {
  return kind.startsWith('Bundle') || metadata.labels?.['core.rukpak.io/owner-name'] === name;
}

/** Fails where `work` writes anything, or has our processes write. */
async function writesNothing(work: () => Promise<void>): Promise<void> {
  const before = await stillObjects();
  const events = new Set(await eventNames());
  const position = await audit.position();
  await work();
  // What a watch would have told of is done by then.
  await delay(2_000);
  expect((await audit.since(position)).filter(isStored)).toEqual([]);
  expect(differences(before, await stillObjects())).toEqual([]);
  expect((await eventNames()).filter((event) => !events.has(event))).toEqual([]);
}

async function eventNames(): Promise<readonly string[]> {
  const events = await kubectl.list('events');
  return events
    .filter((event) => /Bundle/.test(JSON.stringify(event['involvedObject'])))
    .map(({ metadata }) => metadata.name ?? '');
}

async function dry(object: object, ...flags: readonly string[]): Promise<string> {
  const command = ['apply', '--dry-run=server', ...flags, '-f', '-'];
  return await kubectl.must(command, JSON.stringify(object));
}

async function refusal(object: object, ...flags: readonly string[]): Promise<string> {
  const command = ['apply', '--dry-run=server', ...flags, '-f', '-'];
  const { code, stderr } = await kubectl.run(command, JSON.stringify(object));
  expect(code).toBe(1);
  return stderr;
}

test('the session of the page', { tags: 'long' }, async () => {
  await writesNothing(async () => {
    const howto = { page: 'dry-run.md', kubectl, kubeconfig };
    const printed = await followHowto(howto, 'A session');
    expect(printed).toContain('bundledeployment.core.rukpak.io/store created (server dry run)');
    expect(printed).toContain('bundle.core.rukpak.io/hello-content created (server dry run)');
    expect(printed).not.toMatch(/^bundledeployment.core.rukpak.io\/store$/m);
  });
});

describe('a dry run writes nothing', () => {
  test.each([[[]], [['--server-side', '--field-manager=dry']]])(
    'that would make Bundles and BundleDeployments with every field (%j)',
    async (flags) => {
      const deployment = await aStored('dry-new');
      const bundle = aBundle({ name: 'dry-bundle', source: { type: 'upload', upload: {} } });
      await writesNothing(async () => {
        const full = { ...deployment, spec: { ...deployment.spec, ...policies } };
        expect(await dry(full, ...flags)).toContain('(server dry run)');
        expect(await dry(bundle, ...flags)).toContain('(server dry run)');
      });
    },
  );

  test.each(Object.entries(policies))('that would set %s', async (field, value) => {
    await writesNothing(async () => {
      const spec = { ...installed.spec, [field]: value };
      await dry({ ...installed, spec }, '--server-side', '--field-manager=e2e');
    });
  });

  test('that would delete, annotate or change what is there', async () => {
    const [bundle] = await kubectl.list('bundles');
    await writesNothing(async () => {
      await kubectl.must(['delete', 'bundledeployment', name, '--dry-run=server']);
      await kubectl.must(['delete', 'bundle', bundle?.metadata.name ?? '', '--dry-run=server']);
      const approval = 'core.rukpak.io/approve=x';
      await kubectl.must(['annotate', 'bundledeployment', name, approval, '--dry-run=server']);
    });
  });
});

describe('a dry run refuses', () => {
  test('a Bundle whose directory is outside its repository', async () => {
    const git = { repository: 'https://git.example/a', directory: '../a', ref: { branch: 'main' } };
    await writesNothing(async () => {
      const text = await refusal(aBundle({ name: 'dry-odd', source: { type: 'git', git } }));
      const words =
        'admission webhook "vbundles.core.rukpak.io" denied the request: bundle.spec.source.git.directory begins with "../"';
      expect(text).toContain(words);
      const page = new URL('../../docs/howto/dry-run.md', import.meta.url);
      expect(await readFile(page, 'utf8')).toContain(words);
    });
  });

  test('another spec of a Bundle', async () => {
    const [bundle] = await kubectl.list('bundles');
    const target = ['patch', 'bundle', bundle?.metadata.name ?? '', '--type=merge'];
    const patch = '{"spec":{"source":{"image":{"ref":"example.com/other:v1"}}}}';
    await writesNothing(async () => {
      const { stderr } = await kubectl.run([...target, '--dry-run=server', '--patch', patch]);
      expect(stderr).toContain('denied the request: bundle.spec is immutable');
    });
  });

  test.each<[what: string, spec: object, because: string]>([
    ['a dependency on itself', { dependsOn: [{ name }] }, 'spec.dependsOn makes a cycle: '],
    [
      'a rule that is no CEL',
      { health: { rules: [{ kind: 'A', healthy: '(' }] } },
      'spec.health.rules[0]',
    ],
    ['a policy that there is not', { upgradePolicy: 'Sometimes' }, 'spec.upgradePolicy'],
  ])('%s', async (_, fields, because) => {
    await writesNothing(async () => {
      const spec = { ...installed.spec, ...fields };
      const flags = ['--server-side', '--field-manager=e2e'];
      expect(await refusal({ ...installed, spec }, ...flags)).toContain(because);
    });
  });

  test('the account of somebody whom the user may not impersonate', async () => {
    const role = ['--verb=get,create,patch', '--resource=bundledeployments.core.rukpak.io'];
    await kubectl.must(['create', 'clusterrole', 'dry-user', ...role]);
    await kubectl.must([
      'create',
      'clusterrolebinding',
      'dry-user',
      '--clusterrole=dry-user',
      '--user=dry',
    ]);
    const spec = { ...installed.spec, serviceAccount: policies.serviceAccount };
    const metadata = { name: 'dry-theirs' };
    await eventually(async () => {
      const text = await refusal({ ...installed, metadata, spec }, '--as=dry');
      expect(text).toContain('user "dry" may not impersonate ServiceAccount "default"');
    });
    await kubectl.deleteNamed('clusterrole,clusterrolebinding', ['dry-user']);
  });
});

test('every webhook declares that it has no side effects', async () => {
  const kinds = 'validatingwebhookconfigurations,mutatingwebhookconfigurations';
  const configurations = await kubectl.list(kinds);
  const ours = configurations.filter(({ metadata }) => /rukpak|crd-/.test(metadata.name ?? ''));
  expect(ours.length).toBeGreaterThan(1);
  for (const { webhooks } of ours as unknown as { webhooks: { sideEffects: string }[] }[]) {
    expect(webhooks.map(({ sideEffects }) => sideEffects)).toEqual(webhooks.map(() => 'None'));
  }
});
