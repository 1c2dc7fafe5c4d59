import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Condition, KubernetesObject } from '../../api/meta.ts';
import type { BundleDeploymentStatus } from '../../api/v1alpha1/index.ts';
import { AuditLog } from '../helpers/audit-log.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { followHowto } from '../helpers/howto.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aConfigMap, aCRD, aServiceAccount } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { rollOutPlain, type Wanted } from '../helpers/roll-out.ts';
import { RukpakProcess } from '../helpers/rukpak-run.ts';
import { System } from '../helpers/system.ts';

const kubeconfig = plane.kubeconfig;
const registry = plane.registry;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const ownerLabel = 'core.rukpak.io/owner-kind=BundleDeployment';

let system: System;

beforeAll(async () => {
  system = await System.start({ kubeconfig, registry, run: RukpakProcess });
});

afterEach(async () => {
  const skip = ['core.rukpak.io/skip-hooks=true', '--overwrite'];
  await kubectl.run(['annotate', 'bundledeployments', '--all', ...skip]);
  await kubectl.deleteAll('bundledeployments');
  await kubectl.labelNodes({ hooks: null });
  await eventually(async () => {
    expect(await kubectl.list('bundles')).toEqual([]);
    expect(await kubectl.list('jobs,configmaps', ownerLabel)).toEqual([]);
  }, patiently);
});

afterAll(async () => {
  const contents = ['guestbook-v1', 'guestbook-v2', 'guestbook-v3'];
  // They are in use until the webhook knows that the Bundles are gone.
  await eventually(async () => {
    await kubectl.deleteNamed('configmap', contents, {
      namespace: 'rukpak-system',
      ignoreNotFound: true,
    });
  });
  await system.stop();
});

async function rollOut(wanted: Wanted): Promise<void> {
  await rollOutPlain({ kubectl, registry, prefix: 'hooks' }, wanted);
}

function asHook(object: object, hook: string, more: Readonly<Record<string, string>> = {}): object {
  const { metadata, ...rest } = object as KubernetesObject;
  const annotations = { 'core.rukpak.io/hook': hook, ...more };
  return { ...rest, metadata: { ...metadata, annotations } };
}

function aJob(name: string, { spec = {}, pod = {} }: { spec?: object; pod?: object } = {}): object {
  const containers = [{ name: 'main', image: 'example.invalid/none:1' }];
  const template = { spec: { restartPolicy: 'Never', containers, ...pod } };
  const metadata = { name, namespace: 'default' };
  return { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: { ...spec, template } };
}

/** A Job that is done once a node has the label `hooks=<label>`. */
function aHeldJob(name: string, label = name): object {
  return aJob(name, { pod: { nodeSelector: { hooks: label } } });
}

/** A Job that no node can run, and that soon gives up. */
function aFailingJob(name: string): object {
  return aJob(name, {
    spec: { activeDeadlineSeconds: 1 },
    pod: { nodeSelector: { hooks: 'nobody' } },
  });
}

async function letRun(label: string): Promise<void> {
  await kubectl.labelNodes({ hooks: label });
}

async function condition(
  name: string,
  type: string,
  expected: { readonly [Key in keyof Condition]?: unknown },
): Promise<BundleDeploymentStatus> {
  return await eventually(async () => {
    const deployment = await kubectl.get('bundledeployment', name);
    expect(conditionOf(deployment, type)).toMatchObject(expected);
    return deployment['status'] as BundleDeploymentStatus;
  });
}

/** Waits until another Bundle than `before` is active, and nothing is left to do. */
async function isUp(name: string, before = ''): Promise<BundleDeploymentStatus> {
  return await eventually(async () => {
    const deployment = await kubectl.get('bundledeployment', name);
    expect(conditionOf(deployment, 'Healthy')).toMatchObject({ status: 'True' });
    expect(conditionOf(deployment, 'Installed')).toMatchObject({ status: 'True' });
    const status = deployment['status'] as BundleDeploymentStatus;
    expect(status.observedGeneration).toBe(deployment.metadata.generation);
    expect(status.activeBundle).not.toBe(before);
    return status;
  });
}

async function uidOf(kind: string, name: string): Promise<string> {
  return (await kubectl.get(kind, name, 'default')).metadata.uid ?? '';
}

async function exists(kind: string, name: string): Promise<boolean> {
  return await kubectl.exists(kind, name, 'default');
}

function waitingFor(event: string, name: string): { readonly message: unknown } {
  return { message: expect.stringContaining(`waiting for ${event} hook Job/default/${name}`) };
}

async function crash(): Promise<void> {
  await system.kill();
  await system.restart();
}

describe('an install', () => {
  test('waits for its hooks in their order, also across crashes', async () => {
    const weight = { 'core.rukpak.io/hook-weight': '-1' };
    await rollOut({
      name: 'ordered',
      objects: [
        asHook(aHeldJob('hooks-second'), 'pre-install'),
        asHook(aHeldJob('hooks-first'), 'pre-install', weight),
        asHook(aHeldJob('hooks-after'), 'post-install'),
        aConfigMap('hooks-app'),
      ],
    });
    const waiting = { status: 'False', reason: 'WaitingForHook' };
    await condition('ordered', 'Progressing', {
      ...waiting,
      ...waitingFor('pre-install', 'hooks-first (1 of 2)'),
    });
    expect(await exists('job', 'hooks-second')).toBe(false);
    const first = await uidOf('job', 'hooks-first');
    await crash();
    await letRun('hooks-first');
    await condition('ordered', 'Installed', {
      ...waiting,
      ...waitingFor('pre-install', 'hooks-second (2 of 2)'),
    });
    expect(await uidOf('job', 'hooks-first')).toBe(first);
    const second = await uidOf('job', 'hooks-second');
    expect(await exists('configmap', 'hooks-app')).toBe(false);
    await letRun('hooks-second');
    const { activeBundle } = await condition('ordered', 'Installed', {
      ...waiting,
      ...waitingFor('post-install', 'hooks-after'),
    });
    expect(activeBundle).toBeUndefined();
    expect(await exists('configmap', 'hooks-app')).toBe(true);
    await crash();
    await letRun('hooks-after');
    await isUp('ordered');
    expect(await uidOf('job', 'hooks-first')).toBe(first);
    expect(await uidOf('job', 'hooks-second')).toBe(second);
  });

  test('runs hooks of one name one after the other, also across crashes', async () => {
    const hook = (label: string, weight: string): object =>
      asHook(aHeldJob('hooks-same', label), 'pre-install', {
        'core.rukpak.io/hook-weight': weight,
        'core.rukpak.io/hook-delete-policy': 'before-hook-creation,hook-succeeded',
      });
    const objects = [hook('hooks-b', '2'), hook('hooks-a', '1'), aConfigMap('hooks-app')];
    await rollOut({ name: 'namesakes', objects });
    const waitsFor = async (which: string) =>
      await condition('namesakes', 'Progressing', waitingFor('pre-install', `hooks-same ${which}`));
    await waitsFor('(1 of 2)');
    const first = await uidOf('job', 'hooks-same');
    await letRun('hooks-a');
    await waitsFor('(2 of 2)');
    const second = await uidOf('job', 'hooks-same');
    expect(second).not.toBe(first);
    await crash();
    await waitsFor('(2 of 2)');
    expect(await uidOf('job', 'hooks-same')).toBe(second);
    expect(await exists('configmap', 'hooks-app')).toBe(false);
    await letRun('hooks-b');
    await isUp('namesakes');
    await eventually(async () => expect(await exists('job', 'hooks-same')).toBe(false));
  });

  test('has what its hooks need: its namespace and its CRD', async () => {
    const widget = {
      apiVersion: 'e2e.example.com/v1',
      kind: 'Hooked',
      metadata: { name: 'one', namespace: 'hooks-made' },
      spec: { size: 1 },
    };
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'hooks-made' } };
    const objects = [asHook(widget, 'pre-install'), namespace, aCRD('Hooked')];
    await rollOut({ name: 'founded', objects });
    await isUp('founded');
    expect(await kubectl.exists('hookeds.e2e.example.com', 'one', 'hooks-made')).toBe(true);
  });

  test('is refused before any hook runs where one of its kinds or hooks is wrong', async () => {
    const hook = asHook(aJob('hooks-early'), 'pre-install');
    const unknown = { apiVersion: 'e2e.example.com/v9', kind: 'None', metadata: { name: 'x' } };
    await rollOut({ name: 'refused', objects: [hook, unknown] });
    await condition('refused', 'Installed', {
      reason: 'InstallFailed',
      message: expect.stringContaining('no matches for kind "None"'),
    });
    const typo = asHook(aConfigMap('hooks-typo'), 'pre-instal');
    await rollOut({ name: 'refused', version: 2, objects: [hook, typo] });
    await condition('refused', 'Installed', {
      reason: 'InstallFailed',
      message: expect.stringContaining(
        'ConfigMap "hooks-typo": annotation core.rukpak.io/hook is "pre-instal": it must be a list of pre-install',
      ),
    });
    expect(await exists('job', 'hooks-early')).toBe(false);
  });

  test('touches no object of somebody else’s', async () => {
    await kubectl.apply(aHeldJob('hooks-theirs', 'nobody'));
    const theirs = await uidOf('job', 'hooks-theirs');
    const objects = [asHook(aJob('hooks-theirs'), 'pre-install'), aConfigMap('hooks-app')];
    await rollOut({ name: 'polite', objects });
    await condition('polite', 'Installed', {
      reason: 'InstallFailed',
      message: expect.stringContaining(
        'Job "hooks-theirs" in namespace "default" exists and cannot be imported into the current release: it has no owner',
      ),
    });
    expect(await uidOf('job', 'hooks-theirs')).toBe(theirs);
    expect(await exists('configmap', 'hooks-app')).toBe(false);
    await kubectl.deleteNamed('job', ['hooks-theirs'], { namespace: 'default' });
    await isUp('polite');
  });

  test('asks for the permissions of its hooks before anything is changed', async () => {
    await kubectl.apply(aServiceAccount('hooks-deployer'));
    const spec = { serviceAccount: { namespace: 'default', name: 'hooks-deployer' } };
    const objects = [asHook(aJob('hooks-secret'), 'post-install'), aConfigMap('hooks-app')];
    await rollOut({ name: 'modest', objects, spec });
    await condition('modest', 'Installed', {
      reason: 'PermissionsMissing',
      message: expect.stringContaining('jobs.batch (hooks-secret) in namespace "default"'),
    });
    expect(await exists('configmap', 'hooks-app')).toBe(false);
    await kubectl.deleteNamed('serviceaccount', ['hooks-deployer'], { namespace: 'default' });
  });
});

describe('what is installed', () => {
  test('is repaired without its hooks, which nobody repairs', async () => {
    const objects = [
      asHook(aJob('hooks-once'), 'pre-install,pre-upgrade'),
      asHook(aConfigMap('hooks-made'), 'post-install'),
      aConfigMap('hooks-app'),
    ];
    await rollOut({ name: 'kept', objects });
    await isUp('kept');
    const job = await uidOf('job', 'hooks-once');
    await kubectl.deleteNamed('configmap', ['hooks-app', 'hooks-made'], { namespace: 'default' });
    await eventually(async () => expect(await exists('configmap', 'hooks-app')).toBe(true));
    await crash();
    await kubectl.deleteNamed('configmap', ['hooks-app'], { namespace: 'default' });
    await eventually(async () => expect(await exists('configmap', 'hooks-app')).toBe(true));
    await isUp('kept');
    expect(await uidOf('job', 'hooks-once')).toBe(job);
    expect(await exists('configmap', 'hooks-made')).toBe(false);
  });

  test('sends nothing for its hooks while nothing changes', async () => {
    const audit = new AuditLog(plane.clusterDir);
    const before = await audit.position();
    await rollOut({
      name: 'quiet',
      objects: [
        asHook(aJob('hooks-quiet', { spec: { ttlSecondsAfterFinished: 0 } }), 'post-install'),
        aConfigMap('hooks-app'),
      ],
    });
    await isUp('quiet');
    const position = await audit.position();
    await kubectl.must(['annotate', 'bundledeployment', 'quiet', 'looked-at=again']);
    await kubectl.deleteNamed('configmap', ['hooks-app'], { namespace: 'default' });
    await eventually(async () => expect(await exists('configmap', 'hooks-app')).toBe(true));
    await isUp('quiet');
    // A watch begins with a list where the server is too slow to stream one.
    const ofWatches = ['watch', 'list'];
    const ofJobs = async (from: number) =>
      (await audit.since(from)).filter(
        ({ resource, verb }) => resource === 'jobs' && !ofWatches.includes(verb),
      );
    // It is created, and when its end is in the status, Kubernetes may delete it.
    const patch = { verb: 'patch', resource: 'jobs' };
    expect(await ofJobs(before)).toEqual([patch, patch]);
    expect(await ofJobs(position)).toEqual([]);
    await eventually(async () => expect(await exists('job', 'hooks-quiet')).toBe(false));
  });
});

describe('an upgrade', () => {
  const later = { 'core.rukpak.io/hook-delete-policy': 'before-hook-creation,hook-succeeded' };

  test('runs its hooks anew, and deletes them where they say so', async () => {
    const hooks = [
      asHook(aJob('hooks-migrate'), 'pre-install,pre-upgrade'),
      asHook(aJob('hooks-gone'), 'post-install,post-upgrade', later),
    ];
    await rollOut({ name: 'renewed', objects: [...hooks, aConfigMap('hooks-app')] });
    const { activeBundle } = await isUp('renewed');
    const job = await uidOf('job', 'hooks-migrate');
    await eventually(async () => expect(await exists('job', 'hooks-gone')).toBe(false));
    const objects = [...hooks, aConfigMap('hooks-app', { version: '2' })];
    await rollOut({ name: 'renewed', version: 2, objects });
    await isUp('renewed', activeBundle);
    expect(await uidOf('job', 'hooks-migrate')).not.toBe(job);
    await eventually(async () => expect(await exists('job', 'hooks-gone')).toBe(false));
  });

  test('whose hook fails changes nothing, and the next one is better', async () => {
    await rollOut({ name: 'failing', objects: [aConfigMap('hooks-app', { version: '1' })] });
    const { activeBundle = '' } = await isUp('failing');
    const app = aConfigMap('hooks-app', { version: '2' });
    const failing = [asHook(aFailingJob('hooks-migrate'), 'pre-upgrade'), app];
    await rollOut({ name: 'failing', version: 2, objects: failing });
    const status = await condition('failing', 'Installed', {
      reason: 'UpgradeFailed',
      message: expect.stringMatching(
        /^pre-upgrade hook Job\/default\/hooks-migrate has failed: .*\(DeadlineExceeded\)\. Core retries it at /,
      ),
    });
    expect(status.activeBundle).toBe(activeBundle);
    expect((await kubectl.get('configmap', 'hooks-app', 'default'))['data']).toEqual({
      version: '1',
    });
    const better = [asHook(aJob('hooks-migrate'), 'pre-upgrade'), app];
    await rollOut({ name: 'failing', version: 3, objects: better });
    await isUp('failing', activeBundle);
    expect((await kubectl.get('configmap', 'hooks-app', 'default'))['data']).toEqual({
      version: '2',
    });
  });

  test('waits for the running hook of another version, and does not end it', async () => {
    const first = { name: 'patient', objects: [aConfigMap('hooks-app', { version: '1' })] };
    await rollOut(first);
    const { activeBundle } = await isUp('patient');
    const behindSecond = async (bundle: string): Promise<void> => {
      const message = `hooks-migrate-2 of Bundle "patient-.* before Bundle "${bundle}" is applied`;
      await condition('patient', 'Installed', { message: expect.stringMatching(message) });
    };
    const upgradeTo = async (version: number): Promise<void> => {
      const hook = asHook(aHeldJob(`hooks-migrate-${version}`), 'pre-upgrade');
      const app = aConfigMap('hooks-app', { version: `${version}` });
      await rollOut({ name: 'patient', version, objects: [hook, app] });
    };
    const second = waitingFor('pre-upgrade', 'hooks-migrate-2');
    const third = waitingFor('pre-upgrade', 'hooks-migrate-3');
    await upgradeTo(2);
    await condition('patient', 'Progressing', second);
    const job = await uidOf('job', 'hooks-migrate-2');
    await rollOut(first);
    await behindSecond(`${activeBundle}`);
    await upgradeTo(3);
    await behindSecond(`(?!${activeBundle})patient-\\w+`);
    await crash();
    await condition('patient', 'Progressing', second);
    expect(await uidOf('job', 'hooks-migrate-2')).toBe(job);
    expect(await exists('job', 'hooks-migrate-3')).toBe(false);
    await letRun('hooks-migrate-2');
    await condition('patient', 'Progressing', third);
    expect(await uidOf('job', 'hooks-migrate-2')).toBe(job);
    await letRun('hooks-migrate-3');
    await isUp('patient', activeBundle);
  });

  test('waits with its hooks until its plan is approved, which names them', async () => {
    const spec = { upgradePolicy: 'Manual' };
    const objects = [asHook(aJob('hooks-planned'), 'pre-install'), aConfigMap('hooks-app')];
    await rollOut({ name: 'planned', objects, spec });
    const { plan } = await condition('planned', 'Progressing', { reason: 'AwaitingApproval' });
    expect(plan?.hooks).toEqual(['pre-install hook Job/default/hooks-planned']);
    expect(await exists('job', 'hooks-planned')).toBe(false);
    const approval = `core.rukpak.io/approve=${plan?.digest}`;
    await kubectl.must(['annotate', 'bundledeployment', 'planned', approval]);
    await isUp('planned');
    expect(await exists('job', 'hooks-planned')).toBe(true);
  });
});

describe('a deletion', () => {
  async function deleteIt(name: string): Promise<void> {
    await kubectl.deleteNamed('bundledeployment', [name], { wait: false });
  }

  test('runs hooks before and after its objects are deleted, also across crashes', async () => {
    const objects = [
      asHook(aHeldJob('hooks-before'), 'pre-delete'),
      asHook(aHeldJob('hooks-after'), 'post-delete'),
      aConfigMap('hooks-app'),
    ];
    await rollOut({ name: 'doomed', objects });
    await isUp('doomed');
    await deleteIt('doomed');
    const deleting = { status: 'False', reason: 'Deleting' };
    const before = waitingFor('pre-delete', 'hooks-before');
    await condition('doomed', 'Progressing', { ...deleting, ...before });
    const job = await uidOf('job', 'hooks-before');
    await crash();
    expect(await exists('configmap', 'hooks-app')).toBe(true);
    expect(await uidOf('job', 'hooks-before')).toBe(job);
    await letRun('hooks-before');
    const after = waitingFor('post-delete', 'hooks-after');
    await condition('doomed', 'Progressing', { ...deleting, ...after });
    expect(await exists('configmap', 'hooks-app')).toBe(false);
    await crash();
    await letRun('hooks-after');
    await eventually(async () => {
      expect(await kubectl.exists('bundledeployment', 'doomed')).toBe(false);
      expect(await exists('job', 'hooks-after')).toBe(false);
    });
  });

  test('is held up by a hook that fails, until people do without', async () => {
    const objects = [asHook(aFailingJob('hooks-drain'), 'pre-delete'), aConfigMap('hooks-app')];
    await rollOut({ name: 'held', objects });
    await isUp('held');
    await deleteIt('held');
    await condition('held', 'Progressing', {
      reason: 'Deleting',
      message: expect.stringMatching(
        /^deletion is blocked: pre-delete hook Job\/default\/hooks-drain has failed: .*core\.rukpak\.io\/skip-hooks=true$/,
      ),
    });
    expect(await exists('configmap', 'hooks-app')).toBe(true);
    const skip = 'core.rukpak.io/skip-hooks=true';
    await kubectl.must(['annotate', 'bundledeployment', 'held', skip]);
    await eventually(async () => {
      expect(await kubectl.exists('bundledeployment', 'held')).toBe(false);
      expect(await exists('configmap', 'hooks-app')).toBe(false);
    });
  });

  test('in the foreground does without its hooks, and says so', async () => {
    const objects = [asHook(aJob('hooks-drain'), 'pre-delete'), aConfigMap('hooks-app')];
    await rollOut({ name: 'foreground', objects });
    await isUp('foreground');
    const cascade = ['--cascade=foreground', '--timeout=600s'];
    await kubectl.must(['delete', 'bundledeployment', 'foreground', ...cascade]);
    await eventually(async () => expect(await exists('configmap', 'hooks-app')).toBe(false));
    const selector = ['--field-selector=reason=HooksSkipped', '-o=jsonpath={.items[*].message}'];
    await eventually(async () => {
      const events = await kubectl.must(['get', 'events', '--all-namespaces', ...selector]);
      expect(events).toContain('Core skips the hooks of this deletion');
    });
  });

  test('that leaves everything runs no hook', async () => {
    const objects = [
      asHook(aHeldJob('hooks-drain', 'nobody'), 'pre-delete'),
      aConfigMap('hooks-app'),
    ];
    await rollOut({ name: 'left', objects, spec: { deletionPolicy: 'Orphan' } });
    await isUp('left');
    await kubectl.deleteNamed('bundledeployment', ['left']);
    expect(await exists('job', 'hooks-drain')).toBe(false);
    await kubectl.deleteNamed('configmap', ['hooks-app'], { namespace: 'default' });
  });
});

test('the howto’s session does what it says', { tags: 'long' }, async () => {
  const printed = await followHowto({ page: 'hooks.md', kubectl, kubeconfig }, 'A session');
  expect(printed).toMatch(/^migrate /m);
  expect(printed).not.toMatch(/^greet /m);
  for (const text of [
    'pre-install hook Job/guestbook/migrate has succeeded',
    'post-install hook Job/guestbook/greet has succeeded',
    'pre-upgrade hook Job/guestbook/migrate has failed: ',
    'pre-upgrade hook Job/guestbook/migrate has succeeded',
  ]) {
    expect(printed).toContain(text);
  }
  // Events are written beside the deletion, and on a busy machine after its end.
  await eventually(async () => {
    const events = await kubectl.must(['get', 'events', '-o', 'jsonpath={.items[*].message}']);
    expect(events).toContain('pre-delete hook Job/guestbook/export has succeeded');
  });
});
