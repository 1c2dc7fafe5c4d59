import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { KubernetesObject } from '../api/meta.ts';
import { bundleDeploymentResource } from '../api/v1alpha1/resources.ts';
import { installManifests } from '../deploy/install-manifests.ts';
import { anObjectOf, FakeApiServer } from '../test/helpers/fake-api-server.ts';
import { type ProgramResult, runInProcess } from '../test/helpers/run-in-process.ts';
import { runProgram } from './program.ts';

const program = fileURLToPath(new URL('./rukpak.ts', import.meta.url));
const nowhere = join(tmpdir(), 'rukpak-no-such-file');
const env = { KUBECONFIG: nowhere };

async function run(...args: readonly string[]): Promise<ProgramResult> {
  return await runInProcess(() => main(args), { env });
}

async function main(args: readonly string[]): Promise<void> {
  process.exitCode = await runProgram(args, {
    stopSignal: () => new AbortController().signal,
    createLogger: (level) => pino({ level }, process.stderr),
    print: (line) => process.stdout.write(`${line}\n`),
    printError: (line) => process.stderr.write(`${line}\n`),
  });
}

function spawnRukpak(...args: readonly string[]): ProgramResult {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  return { code: status, stdout, stderr };
}

test('an uninstallation goes on to its end with a closed output', {
  tags: ['process'],
}, async () => {
  const api = await FakeApiServer.start();
  onTestFinished(() => api.stop());
  const deployment = { group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments' };
  const role = { group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'ClusterRole' };
  const roles = { ...role, plural: 'clusterroles', namespaced: false };
  const deployments = { ...deployment, namespaced: true };
  const metadata = { namespace: 'rukpak-system' };
  api.serve(bundleDeploymentResource);
  api.put(deployments, anObjectOf(deployments, 'core', { metadata }));
  api.put(roles, anObjectOf(roles, 'bundle-reader'));
  const child = spawn(process.execPath, [program, 'uninstall'], {
    env: { ...process.env, KUBECONFIG: api.kubeconfig },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.destroy();
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const [code] = (await once(child, 'close')) as [number | null];
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(api.get(roles, 'bundle-reader')).toBeUndefined();
});

describe('install --dry-run', () => {
  let result: ProgramResult;
  let objects: readonly KubernetesObject[];

  beforeAll(async () => {
    result = await run('install', '--dry-run', '--system-namespace=mine');
    objects = parseAllDocuments(result.stdout, { version: '1.1' }).map(
      (document) => document.toJS() as KubernetesObject,
    );
  });

  function position(kind: string, name: string): number {
    return objects.findIndex((each) => each.kind === kind && each.metadata.name === name);
  }

  test('needs no cluster, and prints what would be applied', () => {
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(objects).toEqual(
      JSON.parse(JSON.stringify(installManifests({ systemNamespace: 'mine' }))),
    );
  });

  test('prints it in the order in which it can be applied', () => {
    const served = position('CustomResourceDefinition', 'bundles.core.rukpak.io');
    expect(served).toBe(0);
    for (const [index, { kind, metadata, ...rest }] of objects.entries()) {
      const { namespace } = metadata;
      if (namespace !== undefined) {
        expect(['mine', 'crdvalidator-system']).toContain(namespace);
        expect(position('Namespace', namespace)).toBeLessThan(index);
      }
      if (kind !== 'ClusterRoleBinding') continue;
      const { roleRef, subjects } = rest as unknown as {
        roleRef: { kind: string; name: string };
        subjects: readonly { kind: string; name: string; namespace: string }[];
      };
      for (const { kind, name } of [roleRef, ...subjects]) {
        expect(position(kind, name)).toBeGreaterThan(-1);
        expect(position(kind, name)).toBeLessThan(index);
      }
      const own = subjects.map((subject) => subject.namespace);
      expect([['mine'], ['crdvalidator-system']]).toContainEqual(own);
    }
    expect(objects.at(-1)?.kind).toBe('ValidatingWebhookConfiguration');
  });
});

describe('one line on stderr says what is wrong', () => {
  test.each([
    [
      ['core', '--workers=0'],
      "error: option '--workers <n>' argument '0' is invalid. It must be a whole number of at least 1.",
    ],
    [
      ['core', '--tls-cert-file=tls.crt'],
      'rukpak: --tls-cert-file and --tls-private-key-file need each other',
    ],
    [
      ['core', `--registry-ca-file=${nowhere}`],
      `rukpak: cannot read --registry-ca-file: ENOENT: no such file or directory, open '${nowhere}'`,
    ],
    [
      ['all', `--provisioner=${nowhere}`],
      `rukpak: --provisioner ${nowhere}: there is no file or folder ${nowhere}`,
    ],
    [
      ['install', '--install-dependencies', '--dry-run'],
      'rukpak: --install-dependencies needs --operators',
    ],
  ])('%j', async (args, line) => {
    expect(await run(...args)).toEqual({ code: 1, stdout: '', stderr: `${line}\n` });
  });
});

test('--version is that of the package', async () => {
  expect((await run('core', '--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

describe('as a process', { tags: ['process'] }, () => {
  test('install --dry-run prints the same', async () => {
    const args = ['install', '--dry-run', '--system-namespace=mine'];
    const result = spawnRukpak(...args);
    expect(result.code).toBe(0);
    expect(result).toEqual(await run(...args));
  });

  test('an error is the same line on stderr', async () => {
    const args = ['core', '--tls-cert-file=tls.crt'];
    const result = spawnRukpak(...args);
    expect(result.code).toBe(1);
    expect(result).toEqual(await run(...args));
  });
});
