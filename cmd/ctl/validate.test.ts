import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { optionalChecks } from '../../catalog/bundle-checks/index.ts';
import { rukpakctl } from '../../test/helpers/rukpakctl.ts';
import { optionalValues } from './validate.ts';

test('the howto shows what its command prints', async () => {
  const page = readFileSync('docs/howto/validate-a-bundle.md', 'utf8');
  const [, command = '', shown] = /^```console\n\$ rukpakctl (.*)\n([^]*?)^```$/m.exec(page) ?? [];
  const { code, stdout } = await rukpakctl(command.split(' '));
  expect(code).toBe(1);
  expect(stdout).toBe(shown);
});

test('--optional takes the names of all optional checks', () => {
  expect(optionalValues).toEqual(optionalChecks);
});

test.each<[readonly string[], string]>([
  [
    ['deploy/samples/howto/hooks', '--optional=all'],
    '--optional: only registry bundles have additional checks, and this is content of class "core-rukpak-io-plain": leave it out',
  ],
  [
    ['deploy/samples/howto/hooks', '--kube-version=1.30'],
    '--kube-version: only registry bundles have additional checks, and this is content of class "core-rukpak-io-plain": leave it out',
  ],
  [
    ['deploy/samples/howto/validate', '--optional=capabilities', '--kube-version=1.30'],
    '--kube-version: only check alpha-deprecated-apis uses it: add that to --optional',
  ],
])('%j, whose flag would mean nothing, is refused', async (args, expected) => {
  const { code, stdout, stderr } = await rukpakctl(['validate', ...args]);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain(` ${expected}\n`);
});

test.each(['--values=/dev/null', '--release-name=a', '--kube-version=1.30', '--api-versions=a/v1'])(
  'render refuses %s, of charts, for other content',
  async (flag) => {
    const { code, stdout, stderr } = await rukpakctl(['render', 'deploy/samples/howto/web', flag]);
    expect([code, stdout]).toEqual([1, '']);
    const [name = ''] = flag.split('=');
    expect(stderr).toContain(
      ` ${name}: only charts use it, and this is content of class "core-rukpak-io-plain": leave it out\n`,
    );
  },
);

let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rukpakctl-many-'));
  mkdirSync(join(folder, 'manifests'));
  const objects = Array.from(
    { length: 20_001 },
    (_, index) => `---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a${index}}}\n`,
  );
  writeFileSync(join(folder, 'manifests/all.yaml'), objects.join(''));
});

afterAll(() => rmSync(folder, { recursive: true }));

test.each(['validate', 'render'])(
  '%s says that the flag of a limit is one of core',
  async (name) => {
    const { code, stdout, stderr } = await rukpakctl([name, folder]);
    expect(code).toBe(1);
    expect(stdout + stderr).toContain(
      'bundle has more than 20000 objects (--max-content-entries of core; rukpakctl uses its default): split it',
    );
  },
);
