import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  definitionResource,
  deploymentResource,
  namespaceResource,
} from '../../core/platform/kube/index.ts';
import { anObjectOf, FakeApiServer } from '../../test/helpers/fake-api-server.ts';
import { type CtlResult, rukpakctl } from '../../test/helpers/rukpakctl.ts';
import { commandTable } from './program.ts';

const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

let api: FakeApiServer;

beforeAll(async () => {
  api = await FakeApiServer.start();
});

beforeEach(() => {
  api.reset();
  api.serve(definitionResource, namespaceResource, deploymentResource);
  api.answer('/version', () => ({ gitVersion: 'v1.36.3', major: '1', minor: '36' }));
  api.answer(reviews, () => ({ status: { allowed: true } }));
});

afterAll(async () => {
  await api.stop();
});

async function ctl(...args: readonly string[]): Promise<CtlResult> {
  return await rukpakctl(args, { env: { KUBECONFIG: api.kubeconfig } });
}

describe('rukpakctl help', () => {
  test.each([
    ['nonsense', 'rukpakctl'],
    ['provisioner nonsense', 'rukpakctl provisioner'],
  ])('of %s is an error', async (words, group) => {
    expect(await ctl('help', ...words.split(' '))).toEqual({
      code: 1,
      stdout: '',
      stderr: `error: unknown command 'nonsense': ${group} --help lists those of ${group}\n`,
    });
  });

  test('prints the same as --help of a command', async () => {
    const { code, stdout } = await ctl('help', 'provisioner', 'new');
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: (await ctl('provisioner', 'new', '--help')).stdout,
    });
  });

  test.each(['run', 'approve', 'rollback', 'reconcile', 'uninstall'])(
    'of %s shows how a time is written',
    async (command) => {
      const { stdout } = await ctl(command, '--help');
      expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(
        /--timeout <duration> [^-]*(?:--wait)?, such as 90s, 5m or 1h30m, up to 24h \(default: (60s|5m)\)/,
      );
      const refused = await ctl(command, 'x', 'y', '--timeout=60000');
      expect(refused.stderr).toContain('It must be a duration such as 30s or 1m30s.');
    },
  );

  test('describes each command with a capital letter and no full stop', () => {
    const odd = commandTable.filter(
      ({ usage, summary }) => !usage.startsWith('__') && !/^[A-Z].*[^.]$/.test(summary),
    );
    expect(odd.map(({ usage }) => usage)).toEqual([]);
  });

  test('knows the flags of kubectl’s users in every command that talks to a cluster', async () => {
    const { stdout } = await ctl('--help');
    const commands = [...stdout.matchAll(/^ {2}([a-z-]+)\S* \[options\]/gm)].map(
      ([, name]) => name,
    );
    const withoutCluster = new Set(['render', 'validate', 'mirror']);
    const withoutImpersonation = new Set(['run', 'plan']);
    for (const command of commands.filter((name) => !withoutCluster.has(name ?? ''))) {
      const help = (await ctl(command ?? '', '--help')).stdout;
      const identity = withoutImpersonation.has(command ?? '') ? [] : ['--as ', '--as-group'];
      for (const flag of ['--kubeconfig', '--context', ...identity, '-o, --output']) {
        expect(help, `${command} ${flag}`).toContain(`  ${flag}`);
      }
    }
    expect(commands.length).toBeGreaterThan(18);
  });

  test.each([
    [['run'], ['--as ', '--as-group']],
    [['plan'], ['--as ', '--as-group']],
    [
      ['alpha', 'bootstrap'],
      ['--as ', '--as-group'],
    ],
    [['mirror'], ['--image-policy', '--sigstore-trusted-root']],
  ])('of %s does not list flags that the command always refuses', async (command, refused) => {
    const { stdout } = await ctl(...command, '--help');
    expect(stdout).toContain('--output');
    for (const flag of refused) expect(stdout).not.toContain(`  ${flag}`);
  });

  test.each([['--image-policy'], ['--sigstore-trusted-root']])(
    'a mirror with %s is refused with the reason',
    async (flag) => {
      const { code, stderr } = await ctl('mirror', '--from=/none', '--to=r.example', flag, 'x');
      expect(code).toBe(1);
      expect(stderr).toContain(`${flag}: mirror copies signatures, and does not verify them`);
    },
  );
});

describe('versions', () => {
  test('--version is that of the program', async () => {
    expect((await ctl('--version')).stdout).toMatch(/^rukpakctl \d+\.\d+\.\d+\n$/);
  });

  test('version --server adds what runs in the cluster', async () => {
    const template = {
      spec: { containers: [{ name: 'core', image: 'example.com/rukpak:1.2.3' }] },
    };
    const metadata = { namespace: 'rukpak-system' };
    api.put(
      deploymentResource,
      anObjectOf(deploymentResource, 'core', { metadata, spec: { template } }),
    );
    const lines = (await ctl('version', '--server')).stdout.split('\n');
    expect(lines[0]).toMatch(/^revision: /);
    expect(lines.slice(1).map((line) => line.replaceAll(/ {2,}/g, '  '))).toEqual([
      'PROGRAM  VERSION',
      expect.stringMatching(/^rukpakctl {2}\d/),
      'core  example.com/rukpak:1.2.3',
      'rukpak-webhooks  no Deployment in namespace rukpak-system',
      'crd-validation-webhook  no Deployment in namespace crdvalidator-system',
      'Kubernetes  v1.36.3',
      '',
    ]);
  });
});

describe('rukpakctl check --pre', () => {
  test('has nothing against an empty cluster and a cluster-admin', async () => {
    const { code, stdout } = await ctl('check', '--pre');
    expect({ code, last: stdout.split('\n').at(-2) }, stdout).toEqual({
      code: 0,
      last: '7 ok, 0 warnings, 0 failed, 0 skipped',
    });
  });

  test('names all that an installation would fail by', async () => {
    api.answer('/version', () => ({ gitVersion: 'v1.25.0', major: '1', minor: '25+' }));
    api.answer(reviews, ({ body }) => ({ status: { allowed: !/"clusterroles|"\*"/.test(body) } }));
    const deletionTimestamp = '2030-01-01T00:00:00Z';
    api.put(
      namespaceResource,
      anObjectOf(namespaceResource, 'rukpak-system', { metadata: { deletionTimestamp } }),
    );
    const { code, stdout } = await ctl('verify', '--pre');
    expect(code).toBe(1);
    expect(stdout).toContain('failed   Kubernetes: is v1.25.0; use 1.30 or later\n');
    expect(stdout).toContain('this user may not create: ClusterRole');
    expect(stdout).toContain('warning  privileges: ');
    expect(stdout).toContain('failed   Namespace rukpak-system: is being deleted');
  });
});
