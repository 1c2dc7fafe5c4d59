import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseJson } from '../api/json.ts';
import { FakeRegistry } from '../test/helpers/fake-registry.ts';
import { aCsvManifest } from '../test/helpers/registry-bundle.ts';

const program = fileURLToPath(new URL('./rukpakctl.ts', import.meta.url));
const annotations = 'annotations: {operators.operatorframework.io.bundle.package.v1: pkg}\n';

const namespaceYaml = '---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: pkg-system\n';

interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

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

async function run(args: readonly string[], input = '', nodeOptions = ''): Promise<Run> {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...process.env, DOCKER_CONFIG: root, NODE_OPTIONS: nodeOptions },
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
  });
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, ...output };
}

describe('rukpakctl render', () => {
  it('prints YAML documents that kubectl can apply', async () => {
    expect(await run(['render', good])).toEqual({
      code: 0,
      stdout: namespaceYaml,
      stderr: '',
    });
  });

  it('prints a JSON List with every digit, into the namespace asked for', async () => {
    const json = await run(['render', plain, '--output', 'json']);
    expect(parseJson(json.stdout)).toEqual({
      apiVersion: 'v1',
      kind: 'List',
      items: [
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, big: 9007199254740993n },
      ],
    });
    const moved = await run(['render', good, '--install-namespace', 'ns', '--class', 'registry']);
    expect(moved.stdout).toContain('name: ns\n');
  });

  it.each([
    ['a refused bundle', () => [refused], 'AllNamespace install mode must be enabled'],
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
  it('pulls what is no directory', async () => {
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
        `${image} is no directory here, and pulling it as an image failed: Back-off pulling image "${image}": `,
      );
    } finally {
      await registry.stop();
    }
  });
});

describe('rukpakctl render --stdin', () => {
  it('prints a line per directory in order, good and bad', async () => {
    const lines = [good, `${refused}/`, join(root, 'missing'), plain];
    const input = Array.from({ length: 25 }, () => lines).flat();
    const result = await run(['render', '--stdin'], `${input.join('\n')}\r\n\n${good}`);
    expect(result).toMatchObject({ code: 0, stderr: '' });
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

  it('answers a line before the next one is sent', async () => {
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

  it('ends quietly when nobody reads on', async () => {
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

  it('goes on after a bundle that takes more memory than there is', async () => {
    const items = '- 1.5\n'.repeat(4_000_000);
    const huge = aDirectory('huge/1', { 'manifests/a.yaml': `kind: Secret\nx:\n${items}` });
    const input = [plain, huge, plain].join('\n');
    const result = await run(['render', '--stdin'], input, '--max-old-space-size=24');
    expect(result.code).toBe(0);
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
