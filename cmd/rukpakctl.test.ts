import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseJson } from '../api/json.ts';
import { FakeRegistry } from '../test/helpers/fake-registry.ts';
import { aCsvManifest } from '../test/helpers/registry-bundle.ts';
import { type CtlResult, rukpakctl, spawnRukpakctl } from '../test/helpers/rukpakctl.ts';

const program = fileURLToPath(new URL('./rukpakctl.ts', import.meta.url));
const annotations = 'annotations: {operators.operatorframework.io.bundle.package.v1: pkg}\n';

const namespaceYaml = '---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: pkg-system\n';

/** For promises about the process, or when a worker thread is needed. */
const processes = { tags: ['process'] };

/** The launchers on the PATH, as a user has them. */
const binaries = {
  ...process.env,
  PATH: `${fileURLToPath(new URL('../bin', import.meta.url))}:${process.env['PATH']}`,
};

let root = '';
let good = '';
let refused = '';
let plain = '';

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'rukpakctl-'));
  const manifest = (spec: object): string => JSON.stringify(aCsvManifest(spec));
  good = aDirectory('etcd/1.0.0', {
    'metadata/annotations.yaml': annotations,
    'manifests/csv.json': manifest({}),
  });
  refused = aDirectory('refused/0.1.0', {
    'metadata/annotations.yaml': annotations,
    'manifests/csv.json': manifest({ installModes: [] }),
  });
  plain = aDirectory('plain/1', {
    'manifests/a.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nbig: 9007199254740993\n',
  });
});

afterAll(() => {
  rmSync(root, { recursive: true });
});

function aDirectory(name: string, files: Readonly<Record<string, string>>): string {
  const directory = join(root, name);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(directory, path, '..'), { recursive: true });
    writeFileSync(join(directory, path), content);
  }
  return directory;
}

async function run(args: readonly string[], input = ''): Promise<CtlResult> {
  return await rukpakctl(args, { input, env: { DOCKER_CONFIG: root } });
}

describe('rukpakctl render', () => {
  it('prints YAML documents that kubectl can apply', { tags: ['slow'] }, async () => {
    expect(await run(['render', good])).toEqual({
      code: 0,
      stdout: namespaceYaml,
      stderr: '',
    });
  });

  it('prints a JSON List with every digit', async () => {
    const json = await run(['render', plain, '--output', 'json']);
    expect(parseJson(json.stdout)).toEqual({
      apiVersion: 'v1',
      kind: 'List',
      items: [
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, big: 9007199254740993n },
      ],
    });
  });

  it('puts operators into the namespace asked for, which is not theirs to make', async () => {
    const permissions = [{ serviceAccountName: 'painter', rules: [] }];
    const csv = aCsvManifest({ install: { spec: { permissions } } });
    const operator = aDirectory('operator/1', {
      'metadata/annotations.yaml': annotations,
      'manifests/csv.json': JSON.stringify(csv),
    });
    const { stdout } = await run(['render', operator, '--install-namespace', 'ns']);
    expect(stdout).toContain('  name: painter\n  namespace: ns\n');
    expect(stdout).not.toContain('kind: Namespace\n');
  });

  it('refuses what validate refuses, and prints nothing', async () => {
    const slip = aDirectory('slip/1', {
      'manifests/a.yaml': 'apiVersion: apps/v1\nkind: Deplyment\nmetadata: {name: a}\n',
    });
    const { code, stdout, stderr } = await run(['render', slip]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('apps/v1 has no kind "Deplyment" in Kubernetes 1.36');
  });

  it.each([
    ['a refused bundle', () => [refused], 'must be enabled: say in --config FILE what it watches'],
    ['a missing directory', () => [join(root, 'missing')], 'no such file or directory'],
    ['an unknown class', () => [good, '--class', 'helm3'], 'class "helm3" cannot be rendered'],
    ['nothing to render', () => [], 'name a directory or image, or use --stdin'],
    ['both', () => [good, '--stdin'], 'give either a bundle or --stdin, not both'],
    ['another format', () => [good, '--output', 'toml'], "argument 'toml' is invalid"],
  ])('ends with one sentence and exit code 1 for %s', async (_case, args, message) => {
    const result = await run(['render', ...args()]);
    expect(result).toMatchObject({ code: 1, stdout: '' });
    expect(result.stderr).toMatch(/^(error:|\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d) .*\n$/);
    expect(result.stderr).toContain(message);
  });
});

describe('rukpakctl render of an image', () => {
  it('pulls a reference that is not a directory', { tags: ['slow'] }, async () => {
    const registry = await FakeRegistry.start();
    try {
      await registry.addImage('v1', [
        {
          files: {
            'metadata/annotations.yaml': annotations,
            'manifests/csv.json': JSON.stringify(aCsvManifest()),
          },
        },
      ]);
      const flags = ['--insecure-registry', registry.host];
      const pulled = await run(['render', `${registry.host}/a/b:v1`, ...flags]);
      expect(pulled).toEqual({ code: 0, stdout: namespaceYaml, stderr: '' });
      const image = `${registry.host}/a/b:v2`;
      const missing = await run(['render', image, ...flags]);
      expect(missing).toMatchObject({ code: 1, stdout: '' });
      expect(missing.stderr).toContain(
        `${image} is not a directory here, and pulling it as an image failed: Back-off pulling image "${image}": `,
      );
    } finally {
      await registry.stop();
    }
  });
});

describe('rukpakctl render --stdin', () => {
  it('prints a line per directory in order, good and bad', processes, async () => {
    const lines = [good, `${refused}/`, join(root, 'missing'), plain];
    const input = Array.from({ length: 25 }, () => lines).flat();
    const result = await run(['render', '--stdin'], `${input.join('\n')}\r\n\n${good}`);
    expect(result).toMatchObject({ code: 1, stderr: '' });
    const printed = result.stdout.split('\n');
    expect(printed.pop()).toBe('');
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'pkg-system' } };
    const expected = [
      { bundle: 'etcd/1.0.0', ok: true, error: '', objects: [namespace] },
      {
        bundle: 'refused/0.1.0',
        ok: false,
        error:
          'convert registry+v1 bundle to plain+v0 bundle: AllNamespace install mode must be enabled',
        objects: [],
      },
      {
        bundle: `${root.split('/').pop()}/missing`,
        ok: false,
        error: `open ${join(root, 'missing')}: no such file or directory`,
        objects: [],
      },
      {
        bundle: 'plain/1',
        ok: true,
        error: '',
        objects: [
          { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, big: 9007199254740993n },
        ],
      },
    ];
    const wanted = [...input.map((_, index) => expected[index % 4]), expected[0]];
    expect(printed.map((line) => parseJson(line))).toEqual(wanted);
  });

  it('refuses what validate refuses, in the same words, and goes on', processes, async () => {
    const slip = aDirectory('slip/2', {
      'manifests/a.yaml': 'apiVersion: apps/v1\nkind: Deplyment\nmetadata: {name: a}\n',
    });
    const validated = await run(['validate', slip]);
    const [sentence] = validated.stdout.split('\n');
    const result = await run(['render', '--stdin'], [slip, plain].join('\n'));
    expect(result).toMatchObject({ code: 1, stderr: '' });
    expect(
      result.stdout
        .trimEnd()
        .split('\n')
        .map((line) => parseJson(line)),
    ).toMatchObject([
      { bundle: 'slip/2', ok: false, error: sentence, objects: [] },
      { bundle: 'plain/1', ok: true },
    ]);
    expect(await run(['render', '--stdin'], plain)).toMatchObject({ code: 0 });
  });

  it('answers a line before the next one is sent', processes, async () => {
    const child = spawn(process.execPath, [program, 'render', '--stdin']);
    const closed = new Promise((resolve) => child.on('close', resolve));
    const answers = child.stdout.setEncoding('utf8')[Symbol.asyncIterator]();
    for (const directory of [good, plain]) {
      child.stdin.write(`${directory}\n`);
      const answer = parseJson(String((await answers.next()).value));
      expect(answer).toMatchObject({ ok: true });
    }
    child.stdin.end();
    expect(await closed).toBe(0);
  });

  it('ends quietly when nobody reads on', processes, async () => {
    const child = spawn(process.execPath, [program, 'render', '--stdin']);
    const closed = new Promise((resolve) => child.on('close', resolve));
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.stdin.on('error', () => undefined);
    child.stdout.once('data', () => child.stdout.destroy());
    const feeding = setInterval(() => child.stdin.write(`${good}\n`), 5);
    expect(await closed).toBe(0);
    clearInterval(feeding);
    expect(stderr).toBe('');
  });

  it('goes on after a bundle that takes more memory than there is', processes, async () => {
    const items = '- 1.5\n'.repeat(4_000_000);
    const huge = aDirectory('huge/1', { 'manifests/a.yaml': `kind: Secret\nx:\n${items}` });
    const result = await spawnRukpakctl(['render', '--stdin'], {
      input: [plain, huge, plain].join('\n'),
      env: { NODE_OPTIONS: '--max-old-space-size=24' },
    });
    expect(result.code).toBe(1);
    const lines = result.stdout.trimEnd().split('\n');
    expect(lines.map((line) => parseJson(line))).toMatchObject([
      { bundle: 'plain/1', ok: true },
      {
        bundle: 'huge/1',
        ok: false,
        error: expect.stringMatching(/^rendering this bundle failed: .*memory/),
        objects: [],
      },
      { bundle: 'plain/1', ok: true },
    ]);
  });

  it('does nothing with nothing', async () => {
    expect(await run(['render', '--stdin'])).toEqual({ code: 0, stdout: '', stderr: '' });
  });
});

describe('rukpakctl version', () => {
  it('says what it was built from, in RukPak’s words', async () => {
    const { code, stdout, stderr } = await run(['version']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^revision: "([0-9a-f]{40}|unknown)", date: "[^"]+", state: "(clean|dirty|unknown)"\n$/,
    );
    const json = await run(['version', '--output=json']);
    expect(Object.keys(JSON.parse(json.stdout))).toEqual(['revision', 'date', 'state']);
  });
});

describe('rukpakctl run, before it speaks to a cluster', () => {
  const flags = ['--kubeconfig', '/dev/null/missing'];

  it('says that the directory is not there', async () => {
    const directory = join(root, 'missing');
    const { code, stdout, stderr } = await run(['run', 'demo', directory, ...flags]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d /);
    expect(stderr).toContain(`open ${directory}: no such file or directory\n`);
  });

  it('says that there is no cluster', async () => {
    const { code, stderr } = await run(['run', 'demo', plain, ...flags]);
    expect(code).toBe(1);
    expect(stderr).toContain('cannot use kubeconfig /dev/null/missing: ');
  });
});

describe('rukpakctl', () => {
  const uploadFlags = [
    ['--system-namespace', 'rukpak-system'],
    ['--upload-service-name', 'core'],
    ['--ca-secret-name', 'rukpak-ca'],
  ] as const;
  const classFlags = [
    ['--bundle-deployment-provisioner-class', 'core-rukpak-io-plain'],
    ['--bundle-provisioner-class', 'core-rukpak-io-plain'],
  ] as const;

  it('suggests the command that was meant, and hides what may still change', async () => {
    expect((await run(['contnet'])).stderr).toContain('(Did you mean content?)');
    const { stdout } = await run(['--help']);
    expect(stdout).toContain('Usage: rukpakctl ');
    expect(stdout).not.toMatch(/alpha|__complete/);
    expect((await run(['alpha', '--help'])).stdout).toContain('bootstrap');
  });

  it.each([
    ['run', [...uploadFlags, ...classFlags]],
    ['alpha bootstrap', uploadFlags],
    ['content', [['--namespace', 'rukpak-system']]],
  ] as const)('takes RukPak’s flags of %s with RukPak’s defaults', async (command, flags) => {
    const { stdout } = await run([...command.split(' '), '--help']);
    for (const [flag, value] of flags) {
      expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(
        new RegExp(`${flag} <name> [^-]*?\\(default: (?:"core-cert", else )?"${value}"\\)`),
      );
    }
  });
});

describe('rukpakctl completion', () => {
  it.each(['bash', 'zsh', 'fish'])(
    'prints a script for %s that asks the program',
    async (shell) => {
      const { code, stdout } = await run(['completion', shell]);
      expect(code).toBe(0);
      expect(stdout).toContain('rukpakctl __complete ');
    },
  );

  it.each([
    'source <(rukpakctl completion bash)',
    'source <(rukpakctl completion zsh)',
    'rukpakctl completion fish | source',
  ])('has in its help: %s', async (line) => {
    expect((await run(['completion', '--help'])).stdout).toContain(line);
  });

  it('completes in bash', processes, () => {
    const script = [
      'source <(rukpakctl completion bash)',
      'COMP_WORDS=(rukpakctl content --output j); COMP_CWORD=3; _rukpakctl',
      'echo "${COMPREPLY[@]}"',
      'COMP_WORDS=(rukpakctl rend); COMP_CWORD=1; _rukpakctl',
      'echo "${COMPREPLY[@]}"',
    ].join('\n');
    const { stdout } = spawnSync('bash', ['-c', script], { encoding: 'utf8', env: binaries });
    expect(stdout).toBe('json\nrender\n');
  });
});

describe('the kubectl plugin', processes, () => {
  it('calls itself as kubectl does', () => {
    const { stdout } = spawnSync('kubectl-bundle', ['--help'], { encoding: 'utf8', env: binaries });
    expect(stdout).toContain('Usage: kubectl bundle ');
  });

  it('completes for kubectl', () => {
    const { stdout } = spawnSync('kubectl_complete-bundle', ['vers'], {
      encoding: 'utf8',
      env: binaries,
    });
    expect(stdout).toBe('version\tPrint the revision of this program\n:4\n');
  });
});
