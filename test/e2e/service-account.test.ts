import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Condition, KubernetesObject } from '../../api/meta.ts';
import type { ServiceAccountRef } from '../../api/v1alpha1/deployment-policies.ts';
import { AuditLog } from '../helpers/audit-log.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { followHowto } from '../helpers/howto.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aBundleDeployment, aConfigMap, aServiceAccount } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { plainFiles, pushContent } from '../helpers/push-content.ts';
import { rukpakctl } from '../helpers/rukpakctl.ts';
import { System } from '../helpers/system.ts';

const kubeconfig = plane.kubeconfig;
const registry = plane.registry;
const rbac = 'rbac.authorization.k8s.io';
const namespaces = [
  'privilege-team',
  'privilege-app',
  'privilege-other',
  'privilege-brought',
  'team-a',
  'shop',
];
const account = { namespace: 'privilege-team', name: 'deployer' };
const installed = { status: 'True', reason: 'InstallationSucceeded' } as const;

let kubectl: Kubectl;
let system: System;
let audit: AuditLog;

beforeAll(async () => {
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
  audit = new AuditLog(plane.clusterDir);
  system = await System.start({ kubeconfig, registry });
  // Other tests have a namespace "shop" too, which goes in its own time.
  const left = ['delete', 'namespace', ...namespaces, '--ignore-not-found', '--timeout=600s'];
  await kubectl.must(left);
  for (const name of namespaces.slice(0, 3)) {
    await kubectl.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
});

afterAll(async () => {
  await kubectl.deleteAll('bundledeployments', { ignoreNotFound: true });
  await kubectl.deleteNamed('namespace', namespaces, { wait: false, ignoreNotFound: true });
  const roles = ['bundledeployment-editor', 'privilege-editor'];
  await kubectl.deleteNamed('clusterrole', roles, { ignoreNotFound: true });
  const bindings = ['jane-edits', 'privilege-jim-edits'];
  await kubectl.deleteNamed('clusterrolebinding', bindings, { ignoreNotFound: true });
  await eventually(async () => {
    const found = ['delete', 'configmap', 'web-content', '-n', 'rukpak-system'];
    await kubectl.must([...found, '--ignore-not-found']);
  }, patiently);
  await system?.stop();
});

interface Wanted {
  readonly name: string;
  readonly version?: number;
  readonly serviceAccount?: ServiceAccountRef;
  readonly objects: readonly object[];
}

async function aDeploymentOf(wanted: Wanted): Promise<KubernetesObject> {
  const { name, version = 1, serviceAccount, objects } = wanted;
  const files = plainFiles(objects);
  const source = await pushContent({ registry, name: `privilege-${name}`, version, files });
  const deployment = aBundleDeployment({ name, source }) as KubernetesObject & { spec: object };
  return { ...deployment, spec: { ...deployment.spec, serviceAccount } };
}

async function rollOut(wanted: Wanted): Promise<void> {
  await kubectl.apply(await aDeploymentOf(wanted));
}

function placed(object: object, namespace = 'privilege-app'): object {
  const { metadata, ...rest } = object as KubernetesObject;
  return { ...rest, metadata: { ...metadata, namespace } };
}

/** Waits for the condition Installed; its message. */
async function untilInstalled(name: string, expected: Partial<Condition>): Promise<string> {
  return await eventually(async () => {
    const condition = conditionOf(await kubectl.get('bundledeployment', name), 'Installed');
    expect(condition).toMatchObject(expected);
    return condition?.message ?? '';
  });
}

/** Has it tried again at once: nobody tells when RBAC changes. */
async function nudge(name: string): Promise<void> {
  await kubectl.must(['annotate', 'bundledeployment', name, '--overwrite', `nudged=${Date.now()}`]);
}

async function anAccount(name: string): Promise<ServiceAccountRef> {
  await kubectl.apply(placed(aServiceAccount(name), account.namespace));
  return { ...account, name };
}

async function printMissing(name: string): Promise<string> {
  const { code, stdout, stderr } = await rukpakctl(
    ['permissions', name, '--missing', `--server=${system.contentAddress}`],
    { env: { KUBECONFIG: kubeconfig } },
  );
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return stdout;
}

/** As a user does: prints what is missing, and applies it. */
async function grantMissing(name: string): Promise<string> {
  const printed = await printMissing(name);
  await kubectl.must(['apply', '-f', '-'], printed);
  return printed;
}

test('the session of docs/howto/service-accounts.md', { tags: 'long' }, async () => {
  const session = { page: 'service-accounts.md', kubectl, kubeconfig };
  const output = await followHowto(session, 'A session');
  expect(output).toContain(
    'ServiceAccount "deployer" in namespace "team-a" lacks permissions for this, ' +
      'nothing was changed: ' +
      'create, delete, get, list, patch, watch configmaps (web) in namespace "shop"; ' +
      'create, delete, get, list, patch, watch services (web) in namespace "shop". ' +
      '"rukpakctl permissions web --missing" prints them as RBAC objects',
  );
  expect(output).toContain('rukpak:team-a:deployer:web');
});

describe('the webhook', () => {
  const jim = '--as=jim';

  async function asJim(verb: string, object: object): Promise<string> {
    const { code, stderr } = await kubectl.run(
      [verb, '-f', '-', jim, '--dry-run=server'],
      JSON.stringify(object),
    );
    return code === 0 ? '' : stderr;
  }

  beforeAll(async () => {
    await kubectl.apply(
      {
        apiVersion: `${rbac}/v1`,
        kind: 'ClusterRole',
        metadata: { name: 'privilege-editor' },
        rules: [{ apiGroups: ['core.rukpak.io'], resources: ['bundledeployments'], verbs: ['*'] }],
      },
      {
        apiVersion: `${rbac}/v1`,
        kind: 'ClusterRoleBinding',
        metadata: { name: 'privilege-jim-edits' },
        roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'privilege-editor' },
        subjects: [{ kind: 'User', name: 'jim' }],
      },
    );
  });

  test('refuses who may not impersonate the account, to set, change or leave it', async () => {
    const refusal = 'user "jim" may not impersonate ServiceAccount "deployer" in namespace';
    const objects = [placed(aConfigMap('guarded'))];
    const guarded = await aDeploymentOf({ name: 'guarded', serviceAccount: account, objects });
    const free = await aDeploymentOf({ name: 'guarded', objects });
    await eventually(async () => expect(await asJim('create', guarded)).toContain(refusal));
    expect(await asJim('create', free)).toBe('');
    await kubectl.apply(guarded);
    // A replacement conflicts with a status that is written at the same time.
    await eventually(async () => expect(await asJim('replace', free)).toContain(refusal));
    const configured = { ...guarded, spec: { ...guardedSpec(), config: {} } };
    await eventually(async () => expect(await asJim('replace', configured)).toContain(refusal));
    const labelled = { ...guarded, metadata: { name: 'guarded', labels: { a: 'b' } } };
    await eventually(async () => expect(await asJim('replace', labelled)).toBe(''));
    await kubectl.apply(
      {
        apiVersion: `${rbac}/v1`,
        kind: 'Role',
        metadata: { name: 'use-deployer', namespace: account.namespace },
        rules: [
          {
            apiGroups: [''],
            resources: ['serviceaccounts'],
            resourceNames: ['deployer'],
            verbs: ['impersonate'],
          },
        ],
      },
      {
        apiVersion: `${rbac}/v1`,
        kind: 'RoleBinding',
        metadata: { name: 'use-deployer', namespace: account.namespace },
        roleRef: { apiGroup: rbac, kind: 'Role', name: 'use-deployer' },
        subjects: [{ kind: 'User', name: 'jim' }],
      },
    );
    await eventually(async () => expect(await asJim('replace', free)).toBe(''));

    function guardedSpec(): object {
      return guarded['spec'] as object;
    }
  });
});

describe('an account', () => {
  test('that does not exist is told, and nothing is changed', async () => {
    const serviceAccount = { ...account, name: 'nobody' };
    await rollOut({ name: 'orphan', serviceAccount, objects: [placed(aConfigMap('orphan'))] });
    expect(await untilInstalled('orphan', { reason: 'PermissionsMissing' })).toBe(
      'ServiceAccount "nobody" in namespace "privilege-team", which spec.serviceAccount names, does not exist: nothing was changed',
    );
    expect(await kubectl.exists('configmap', 'orphan', 'privilege-app')).toBe(false);
  });

  test('gets what it lacks in one go, and each request about the objects is its own', async () => {
    const serviceAccount = await anAccount('installer');
    const position = await audit.position();
    const objects = [placed(aConfigMap('one')), placed(aConfigMap('two', { a: 'b' }))];
    await rollOut({ name: 'own', serviceAccount, objects });
    const message = await untilInstalled('own', { reason: 'PermissionsMissing' });
    expect(message).toContain(
      'create, delete, get, list, patch, watch configmaps (one, two) in namespace "privilege-app"',
    );
    expect(await kubectl.exists('configmap', 'one', 'privilege-app')).toBe(false);
    await grantMissing('own');
    await nudge('own');
    await untilInstalled('own', installed);
    await kubectl.deleteNamed('configmap', ['one'], { namespace: 'privilege-app' });
    await eventually(async () => {
      expect(await kubectl.exists('configmap', 'one', 'privilege-app')).toBe(true);
    });
    await rollOut({ name: 'own', version: 2, serviceAccount, objects: objects.slice(1) });
    await eventually(async () => {
      expect(await kubectl.exists('configmap', 'one', 'privilege-app')).toBe(false);
    });
    const requests = await audit.inNamespace('privilege-app', position);
    expect(requests.map(({ verb, name }) => `${verb} ${name}`)).toEqual(
      expect.arrayContaining(['patch one', 'patch two', 'delete one']),
    );
    for (const { as, groups } of requests) {
      expect(as).toBe('system:serviceaccount:privilege-team:installer');
      expect(groups).toEqual([
        'system:serviceaccounts',
        'system:serviceaccounts:privilege-team',
        'system:authenticated',
      ]);
    }
  });

  test('gets what it lacks in the install namespace, and nothing in that of the system', async () => {
    const serviceAccount = await anAccount('placer');
    const objects = [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'unplaced' } }];
    const deployment = await aDeploymentOf({ name: 'placed', serviceAccount, objects });
    const spec = { ...(deployment['spec'] as object), installNamespace: 'privilege-app' };
    await kubectl.apply({ ...deployment, spec });
    await untilInstalled('placed', { reason: 'PermissionsMissing' });
    const printed = await grantMissing('placed');
    expect(printed).toContain('namespace: privilege-app\n');
    expect(printed).not.toContain('namespace: rukpak-system\n');
    await nudge('placed');
    await untilInstalled('placed', installed);
  });

  test('cannot touch another namespace: an upgrade that wants to changes nothing', async () => {
    const serviceAccount = await anAccount('local');
    const objects = [placed(aConfigMap('local', { version: '1' }))];
    await rollOut({ name: 'local', serviceAccount, objects });
    await untilInstalled('local', { reason: 'PermissionsMissing' });
    await grantMissing('local');
    await nudge('local');
    await untilInstalled('local', installed);
    const more = [
      placed(aConfigMap('local', { version: '2' })),
      placed(aConfigMap('local'), 'privilege-other'),
    ];
    await rollOut({ name: 'local', version: 2, serviceAccount, objects: more });
    expect(await untilInstalled('local', { reason: 'PermissionsMissing' })).toContain(
      'nothing was changed: create, delete, get, list, patch, watch configmaps (local) in namespace "privilege-other". ',
    );
    const { data } = await kubectl.get('configmap', 'local', 'privilege-app');
    expect(data).toEqual({ version: '1' });
    expect(await kubectl.exists('configmap', 'local', 'privilege-other')).toBe(false);
  });

  test('that loses its rights has its deployment fail, and others go on', async () => {
    const serviceAccount = await anAccount('loser');
    const objects = [placed(aConfigMap('lost'))];
    await rollOut({ name: 'loser', serviceAccount, objects });
    await untilInstalled('loser', { reason: 'PermissionsMissing' });
    const granted = await grantMissing('loser');
    await nudge('loser');
    await untilInstalled('loser', installed);
    await rollOut({ name: 'bystander', objects: [placed(aConfigMap('bystander'))] });
    await untilInstalled('bystander', installed);
    await kubectl.must(['delete', '-f', '-'], granted);
    await eventually(async () => {
      const user = '--as=system:serviceaccount:privilege-team:loser';
      const question = ['auth', 'can-i', 'patch', 'configmaps/lost', user, '-n', 'privilege-app'];
      expect((await kubectl.run(question)).stdout.trim()).toBe('no');
    });
    await kubectl.deleteNamed('configmap', ['lost', 'bystander'], { namespace: 'privilege-app' });
    await eventually(async () => {
      expect(await kubectl.exists('configmap', 'bystander', 'privilege-app')).toBe(true);
    });
    expect(await untilInstalled('loser', { reason: 'PermissionsMissing' })).toContain(
      'configmaps (lost) in namespace "privilege-app"',
    );
    expect(await kubectl.exists('configmap', 'lost', 'privilege-app')).toBe(false);
  });

  test('cannot grant what it does not have, in the words of the server, until it has it', async () => {
    const serviceAccount = await anAccount('granter');
    const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['deletecollection'] }];
    const metadata = { name: 'granted', namespace: 'privilege-app' };
    const objects = [{ apiVersion: `${rbac}/v1`, kind: 'Role', metadata, rules }];
    await rollOut({ name: 'granter', serviceAccount, objects });
    await untilInstalled('granter', { reason: 'PermissionsMissing' });
    const printed = await printMissing('granter');
    expect(printed).toContain('deletecollection');
    const withoutRule = printed.replace('- deletecollection', '- get');
    await kubectl.must(['apply', '-f', '-'], withoutRule);
    await nudge('granter');
    expect(await untilInstalled('granter', { reason: 'InstallFailed' })).toMatch(
      /attempting to grant RBAC permissions not currently held.*deletecollection/s,
    );
    await grantMissing('granter');
    await nudge('granter');
    await untilInstalled('granter', installed);
  });

  test('binds roles of others, and gathers rules of others, with leave for just these roles', async () => {
    const serviceAccount = await anAccount('gatherer');
    const aggregationRule = {
      clusterRoleSelectors: [{ matchLabels: { 'privilege.test/a': 'b' } }],
    };
    const metadata = { name: 'privilege-gathered' };
    const binding = {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      subjects: [{ kind: 'User', name: 'nobody' }],
    };
    const objects = [
      { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata, aggregationRule },
      { ...binding, metadata, roleRef: roleRef('privilege-gathered') },
      { ...binding, metadata: { name: 'privilege-views' }, roleRef: roleRef('view') },
    ];
    await rollOut({ name: 'gatherer', serviceAccount, objects });
    await untilInstalled('gatherer', { reason: 'PermissionsMissing' });
    const printed = await grantMissing('gatherer');
    expect(printed).toMatch(/resourceNames:\n {2}- privilege-gathered\n {2}verbs:\n {2}- escalate/);
    await nudge('gatherer');
    await untilInstalled('gatherer', installed);
    await kubectl.deleteNamed('bundledeployment', ['gatherer']);
    await kubectl.must(['delete', '-f', '-', '--ignore-not-found'], printed);

    function roleRef(name: string): object {
      return { apiGroup: rbac, kind: 'ClusterRole', name };
    }
  });

  test('has rights in one namespace alone where that is there before the bundle that brings it', async () => {
    const serviceAccount = await anAccount('settler');
    const metadata = { name: 'privilege-brought' };
    const brought = { apiVersion: 'v1', kind: 'Namespace', metadata };
    const objects = [brought, placed(aConfigMap('settled'), metadata.name)];
    await kubectl.apply(brought);
    await rollOut({ name: 'settler', serviceAccount, objects });
    await untilInstalled('settler', { reason: 'PermissionsMissing' });
    const printed = await grantMissing('settler');
    expect(printed.match(/^kind: .*$/gm)).toEqual([
      'kind: ClusterRole',
      'kind: ClusterRoleBinding',
      'kind: Role',
      'kind: RoleBinding',
    ]);
    const adopt = 'core.rukpak.io/adopt=Namespace/privilege-brought';
    await kubectl.must(['annotate', 'bundledeployment', 'settler', adopt]);
    await untilInstalled('settler', installed);
    const user = '--as=system:serviceaccount:privilege-team:settler';
    const elsewhere = ['auth', 'can-i', 'create', 'configmaps', user, '-n', 'privilege-other'];
    expect((await kubectl.run(elsewhere)).stdout.trim()).toBe('no');
    await kubectl.deleteNamed('bundledeployment', ['settler']);
    await kubectl.must(['delete', '-f', '-', '--ignore-not-found'], printed);
  });

  test('is asked about nothing while nothing changes', async () => {
    await untilInstalled('own', installed);
    // They are tried again, and ask.
    const refused = ['orphan', 'local', 'loser'];
    await kubectl.deleteNamed('bundledeployment', refused);
    // Not at once: what was under way when they were deleted may still ask.
    await eventually(async () => {
      const position = await audit.position();
      await nudge('own');
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      const requests = (await audit.since(position)).filter(({ verb }) => verb !== 'watch');
      expect(requests.filter(({ resource }) => /reviews|configmaps/.test(resource))).toEqual([]);
    });
  });
});

describe('with --require-service-account', () => {
  test('a deployment without an account is refused', async () => {
    await system.stop();
    system = await System.start({ kubeconfig, registry, flags: ['--require-service-account'] });
    const objects = [placed(aConfigMap('required'))];
    const without = await aDeploymentOf({ name: 'required', objects });
    const { stderr } = await kubectl.run(['create', '-f', '-'], JSON.stringify(without));
    expect(stderr).toContain('spec.serviceAccount must be set');
    await rollOut({ name: 'required', serviceAccount: account, objects });
  });
});
