import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { KubernetesObject } from '../api/meta.ts';
import { installManifests } from '../deploy/install-manifests.ts';

const program = fileURLToPath(new URL('./rukpak.ts', import.meta.url));
const nowhere = join(tmpdir(), 'rukpak-no-such-file');

function run(...args: readonly string[]) {
  const env = { ...process.env, KUBECONFIG: nowhere };
  return spawnSync(process.execPath, [program, ...args], { encoding: 'utf8', env });
}

describe('install --dry-run', () => {
  const { status, stdout, stderr } = run('install', '--dry-run', '--system-namespace=mine');
  const objects = parseAllDocuments(stdout, { version: '1.1' }).map(
    (document) => document.toJS() as KubernetesObject,
  );

  function position(kind: string, name: string): number {
    return objects.findIndex((each) => each.kind === kind && each.metadata.name === name);
  }

  test('needs no cluster, and prints what would be applied', () => {
    expect(stderr).toBe('');
    expect(status).toBe(0);
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
  ])('%j', (args, line) => {
    const { status, stdout, stderr } = run(...args);
    expect(stderr).toBe(`${line}\n`);
    expect(stdout).toBe('');
    expect(status).toBe(1);
  });
});

test('--version is that of the package', () => {
  expect(run('core', '--version').stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});
