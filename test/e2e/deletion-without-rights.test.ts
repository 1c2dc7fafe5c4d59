import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import type { ServiceAccountRef } from '../../api/v1alpha1/deployment-policies.ts';
import { eventually } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aBundleDeployment, aConfigMap, aServiceAccount } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { plainFiles, pushContent } from '../helpers/push-content.ts';
import { rukpakctl } from '../helpers/rukpakctl.ts';
import { System } from '../helpers/system.ts';

const { kubeconfig, registry } = plane;
const rbac = 'rbac.authorization.k8s.io';
const [app, team, leftTeam] = ['unrightful-app', 'unrightful-team', 'unrightful-left'];
const account = { namespace: team, name: 'deployer' };

let kubectl: Kubectl;
let system: System;

beforeAll(async () => {
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
  system = await System.start({ kubeconfig, registry });
  for (const name of [app, team, leftTeam]) {
    await kubectl.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
});

afterAll(async () => {
  await kubectl.deleteAll('bundledeployments', { ignoreNotFound: true });
  const namespaces = ['delete', 'namespace', app, team, leftTeam];
  await kubectl.run([...namespaces, '--ignore-not-found', '--wait=false']);
  await system?.stop();
});

/** A Role and its RoleBinding for one account in the namespace of the objects. */
function grantsOf(serviceAccount: ServiceAccountRef): readonly object[] {
  const metadata = { name: serviceAccount.name, namespace: app };
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['*'] }];
  const roleRef = { apiGroup: rbac, kind: 'Role', name: serviceAccount.name };
  const subjects = [{ kind: 'ServiceAccount', ...serviceAccount }];
  const apiVersion = `${rbac}/v1`;
  return [
    { apiVersion, kind: 'Role', metadata, rules },
    { apiVersion, kind: 'RoleBinding', metadata, roleRef, subjects },
  ];
}

/** Installs a ConfigMap of the name as the account. */
async function install(name: string, serviceAccount: ServiceAccountRef): Promise<void> {
  const { namespace } = serviceAccount;
  const made = aServiceAccount(serviceAccount.name) as KubernetesObject;
  const metadata = { name: serviceAccount.name, namespace };
  await kubectl.apply({ ...made, metadata }, ...grantsOf(serviceAccount));
  const object = aConfigMap(name, { of: 'user' }) as KubernetesObject;
  const placed = { ...object, metadata: { ...object.metadata, namespace: app } };
  const files = plainFiles([placed]);
  const source = await pushContent({ registry, name: `unrightful-${name}`, version: 1, files });
  const deployment = aBundleDeployment({ name, source }) as KubernetesObject & { spec: object };
  await kubectl.apply({ ...deployment, spec: { ...deployment.spec, serviceAccount } });
  await eventually(async () => {
    const live = await kubectl.get('bundledeployment', name);
    expect(conditionOf(live, 'Installed')).toMatchObject({ status: 'True' });
  });
}

async function revoke({ name, namespace }: ServiceAccountRef): Promise<void> {
  await kubectl.deleteNamed('rolebinding', [name], { namespace: app });
  await eventually(async () => {
    const user = `--as=system:serviceaccount:${namespace}:${name}`;
    const { stdout } = await kubectl.run([
      'auth',
      'can-i',
      'delete',
      'configmaps',
      user,
      '-n',
      app,
    ]);
    expect(stdout.trim()).toBe('no');
  });
}

async function startDeletion(name: string): Promise<void> {
  await kubectl.deleteNamed('bundledeployment', [name], { wait: false });
}

/** Waits until condition Progressing names the missing permissions; its message. */
async function untilDenied(name: string): Promise<string> {
  return await eventually(async () => {
    const condition = conditionOf(await kubectl.get('bundledeployment', name), 'Progressing');
    expect(condition).toMatchObject({ status: 'False', reason: 'PermissionsMissing' });
    return condition?.message ?? '';
  });
}

async function untilGone(name: string): Promise<void> {
  await eventually(async () => {
    expect(await kubectl.exists('bundledeployment', name)).toBe(false);
  });
}

/** The command at the end of the message that keeps the objects. */
async function keepObjects(message: string): Promise<void> {
  const command = /keep the objects: kubectl (patch .*?)'(.*?)'/.exec(message);
  const [, args = '', patch = ''] = command ?? [];
  await kubectl.must([
    ...args
      .trim()
      .replace(/--patch=$/, '')
      .trim()
      .split(' '),
    `--patch=${patch}`,
  ]);
}

test('waits for the permissions, names them and both cures, and ends when they are back', async () => {
  const name = 'unrightful-granted';
  await install(name, account);
  await revoke(account);
  await startDeletion(name);
  const message = await untilDenied(name);
  expect(message).toBe(
    `ServiceAccount "deployer" in namespace "${team}" lacks permissions for the deletion: ` +
      `delete, get configmaps (${name}) in namespace "${app}". ` +
      `Grant them ("rukpakctl permissions ${name} --missing" prints them as RBAC objects), ` +
      `or keep the objects: kubectl patch bundledeployment ${name} --type=merge --patch='{"spec":{"deletionPolicy":"Orphan"}}'. ` +
      'Core retries every minute',
  );
  await eventually(async () => {
    const { stdout } = await kubectl.run(['describe', 'bundledeployment', name]);
    expect(stdout).toMatch(/Warning +PermissionsMissing .*delete, get configmaps/);
  });
  expect(await kubectl.exists('configmap', name, app)).toBe(true);
  const env = { KUBECONFIG: kubeconfig };
  const server = `--server=${system.contentAddress}`;
  const status = await rukpakctl(['status', name], { env });
  expect(status.stdout.replaceAll(/\s+/g, ' ')).toContain(
    `review the output of "rukpakctl permissions ${name} --missing", and have a user who may grant these permissions apply it, or keep the objects: kubectl patch`,
  );
  const missing = await rukpakctl(['permissions', name, '--missing', server], { env });
  expect(missing).toMatchObject({ code: 0, stderr: '' });
  await kubectl.must(['apply', '-f', '-'], missing.stdout);
  await untilGone(name);
  expect(await kubectl.exists('configmap', name, app)).toBe(false);
});

test('ends with the policy Orphan, though the account and its namespace are gone', async () => {
  const name = 'unrightful-left';
  const serviceAccount = { namespace: leftTeam, name: 'left' };
  await install(name, serviceAccount);
  await revoke(serviceAccount);
  await startDeletion(name);
  await untilDenied(name);
  await kubectl.deleteNamed('namespace', [leftTeam]);
  await keepObjects(await untilDenied(name));
  await untilGone(name);
  const kept = await kubectl.get('configmap', name, app);
  expect(kept['data']).toEqual({ of: 'user' });
  expect(kept.metadata.labels ?? {}).toEqual({});
  expect(kept.metadata.ownerReferences ?? []).toEqual([]);
  expect(kept.metadata.annotations).toEqual({ 'core.rukpak.io/left-by': name });
});

test('of an account that is gone says so, and ends by its permissions if they are back', async () => {
  const name = 'unrightful-gone';
  const serviceAccount = { ...account, name: 'gone' };
  await install(name, serviceAccount);
  await revoke(serviceAccount);
  await kubectl.deleteNamed('serviceaccount', ['gone'], { namespace: team });
  await startDeletion(name);
  expect(await untilDenied(name)).toContain(
    `ServiceAccount "gone" in namespace "${team}" does not exist, and lacks permissions for the deletion: delete, get configmaps`,
  );
  await kubectl.apply(...grantsOf(serviceAccount));
  await untilGone(name);
  expect(await kubectl.exists('configmap', name, app)).toBe(false);
});
