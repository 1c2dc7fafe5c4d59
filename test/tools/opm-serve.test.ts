// @module-tag long
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonValue } from '../../api/json.ts';
import { jsonText } from '../../catalog/blobs/index.ts';
import { runBothOpms } from '../helpers/both-opms.ts';
import { opmBinary } from '../helpers/opm.ts';
import { RegistryClient } from '../helpers/registry-client.ts';
import { servedCatalog } from '../helpers/served-catalog.ts';
import { workerPorts } from '../helpers/worker-ports.ts';

const root = join(import.meta.dirname, '../..');
const real = join(root, '../shared/catalogs/packages');
const programs: ChildProcess[] = [];
let dir: string;
let ours: RegistryClient;
let theirs: RegistryClient;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'opm-serve-'));
  await mkdir(join(dir, 'catalog'));
  await writeFile(join(dir, 'catalog/crafted.json'), servedCatalog);
  await cp(join(root, 'deploy/samples/howto/catalog'), join(dir, 'catalog'), { recursive: true });
  for (const name of existsSync(real) ? await readdir(real) : []) {
    // This one is cut off: opm reads none of it.
    if (name === 'slurm-operator') continue;
    await cp(join(real, name), join(dir, 'catalog', name), { recursive: true });
  }
  const [ourPort = 0, theirPort = 0] = await workerPorts(2);
  await serving(process.execPath, [join(root, 'cmd/opm.ts'), ...serveArgs(ourPort)]);
  await serving(await opmBinary(), [...serveArgs(theirPort), '--pprof-addr', '']);
  ours = new RegistryClient(ourPort);
  theirs = new RegistryClient(theirPort);
});

afterAll(async () => {
  ours?.[Symbol.dispose]();
  theirs?.[Symbol.dispose]();
  for (const program of programs) {
    program.kill('SIGTERM');
    if (program.exitCode === null) await once(program, 'exit');
  }
  await rm(dir, { recursive: true, force: true });
});

function serveArgs(port: number): readonly string[] {
  return ['serve', 'catalog', '-p', String(port), '-t', join(dir, 'termination-log')];
}

/** Resolves when the program says that it serves. */
async function serving(program: string, args: readonly string[]): Promise<void> {
  const child = spawn(program, args, { cwd: dir, stdio: ['ignore', 'inherit', 'pipe'] });
  programs.push(child);
  const printed: string[] = [];
  for await (const line of createInterface(child.stderr)) {
    printed.push(line);
    if (line.includes('msg="serving registry"')) {
      child.stderr.resume();
      return;
    }
  }
  throw new Error(printed.join('\n'));
}

type Fields = Readonly<Record<string, unknown>>;

/** Both answers, byte by byte; in random order from opm, so sorted, unless the order is promised. */
async function same(path: string, request: Fields = {}, inOrder = false): Promise<void> {
  const [our, their] = [await ours.call(path, request), await theirs.call(path, request)];
  const shown = (messages: readonly Buffer[]) => {
    const texts = messages.map((message) => message.toString('latin1'));
    return inOrder ? texts : texts.toSorted();
  };
  expect({ ...our, messages: shown(our.messages) }, `${path} ${JSON.stringify(request)}`).toEqual({
    ...their,
    messages: shown(their.messages),
  });
}

interface Listed {
  readonly packageName: string;
  readonly channelName: string;
  readonly csvName: string;
  readonly replaces?: string;
  readonly skips?: readonly string[];
  readonly providedApis?: readonly Fields[];
}

/** Every entry of the catalog, as opm lists them. */
async function listed(): Promise<readonly Listed[]> {
  const { messages } = await theirs.call('api.Registry/ListBundles');
  return messages.map((message) => theirs.json('api.Bundle', message) as Listed);
}

/** What a bundle replaces and skips, each once, as requests. */
function edgesOf({ packageName: pkgName, channelName, replaces, skips = [] }: Listed) {
  const names = new Set([...(replaces === undefined ? [] : [replaces]), ...skips]);
  return [...names].map((csvName) => ({ pkgName, channelName, csvName }));
}

describe('every rpc is answered as by opm:', () => {
  test('ListPackages', async () => await same('api.Registry/ListPackages'));
  test('ListBundles', async () => await same('api.Registry/ListBundles', {}, true));

  test('GetPackage', async () => {
    const names = new Set((await listed()).map(({ packageName }) => packageName));
    expect(names.size).toBeGreaterThan(2);
    for (const name of [...names, 'zz', '', '__proto__', 'a"b']) {
      await same('api.Registry/GetPackage', { name });
    }
  });

  test('GetBundle', async () => {
    for (const { packageName: pkgName, channelName, csvName } of await listed()) {
      await same('api.Registry/GetBundle', { pkgName, channelName, csvName });
    }
    const pkgName = 'crafted';
    await same('api.Registry/GetBundle', { pkgName: 'zz', channelName: 'stable', csvName: 'x' });
    await same('api.Registry/GetBundle', { pkgName, channelName: 'zz', csvName: 'x' });
    await same('api.Registry/GetBundle', { pkgName, channelName: 'stable', csvName: 'x' });
    await same('api.Registry/GetBundle');
  });

  test('GetBundleForChannel', async () => {
    for (const { packageName: pkgName, channelName } of await listed()) {
      await same('api.Registry/GetBundleForChannel', { pkgName, channelName });
    }
    await same('api.Registry/GetBundleForChannel', { pkgName: 'zz', channelName: 'stable' });
    await same('api.Registry/GetBundleForChannel', { pkgName: 'crafted', channelName: 'zz' });
  });

  test('GetBundleThatReplaces and GetChannelEntriesThatReplace', async () => {
    const replaced = Map.groupBy((await listed()).flatMap(edgesOf), (edge) => JSON.stringify(edge));
    for (const [edge, ...others] of replaced.values()) {
      const csvName = edge?.csvName ?? '';
      await same('api.Registry/GetChannelEntriesThatReplace', { csvName });
      // Of several that fit, opm takes one at random.
      if (others.length === 0) await same('api.Registry/GetBundleThatReplaces', edge);
    }
    await same('api.Registry/GetBundleThatReplaces', { pkgName: 'zz' });
    await same('api.Registry/GetBundleThatReplaces', { pkgName: 'crafted', channelName: 'zz' });
    await same('api.Registry/GetChannelEntriesThatReplace', { csvName: 'zz' });
  });

  test.each([
    'GetChannelEntriesThatProvide',
    'GetLatestChannelEntriesThatProvide',
    'GetDefaultBundleThatProvides',
  ])('%s', async (name) => {
    const apis = (await listed()).flatMap(({ providedApis = [] }) => providedApis);
    const once = new Map(apis.map((api) => [JSON.stringify(api), api]));
    expect(once.size).toBeGreaterThan(1);
    for (const api of once.values()) await same(`api.Registry/${name}`, api);
    await same(`api.Registry/${name}`, { group: 'g"', version: 'v', kind: 'k', plural: 'p' });
    await same(`api.Registry/${name}`);
  });

  test('ExperimentalListPackageCustomSchemas', async () => {
    const path = 'api.ExperimentalRegistry/ExperimentalListPackageCustomSchemas';
    const headers = { 'x-acknowledge-experimental': 'true' };
    await same(path, { schema: 'acme.note' });
    for (const request of [
      { schema: 'acme.note' },
      { schema: 'acme.note', packageName: 'crafted' },
      { schema: 'acme.note', packageName: 'zz' },
      { schema: 'olm.package' },
      { schema: '' },
      { schema: 'a/b' },
      { schema: 'acme.note', packageName: '../x' },
    ]) {
      const [our, their] = [ours, theirs].map(async (client) => {
        const { messages, failure } = await client.call(path, request, headers);
        const texts = messages.map((message) =>
          // opm sends the keys in random order.
          jsonText(client.json('google.protobuf.Struct', message) as JsonValue),
        );
        return { failure, texts: texts.toSorted() };
      });
      expect(await our, JSON.stringify(request)).toEqual(await their);
    }
  });

  test('health', async () => {
    for (const service of ['', 'Registry', 'zz']) {
      await same('grpc.health.v1.Health/Check', { service });
    }
    await same('grpc.health.v1.Health/Watch');
  });

  test('reflection', async () => {
    expect(await ours.services()).toEqual(await theirs.services());
    expect(await ours.services('v1alpha')).toEqual(await theirs.services('v1alpha'));
    expect(await ours.files('api.Registry')).toEqual(await theirs.files('api.Registry'));
    const symbols = ['api.Bundle', 'api.Bundle.csvName', 'api.Registry.GetPackage', 'api.Nothing'];
    const asked = symbols.map((value) => ({ case: 'fileContainingSymbol', value }));
    const [our, their] = await Promise.all([ours, theirs].map((client) => client.reflect(asked)));
    expect(our?.map(kindOf)).toEqual(their?.map(kindOf));
  });
});

function kindOf(answer: unknown): unknown {
  return (answer as { case: unknown }).case;
}

describe('the command is as opm', () => {
  const catalogs: Readonly<Record<string, string>> = {
    good: '{"schema":"acme.note"}',
    schemaless: '{"name":"q"}',
    invalid: '{"schema":"olm.package","name":"a","defaultChannel":"s"}',
    'odd-name': '{"schema":"x y"}',
    'odd-package': '{"schema":"x","package":"a/b"}',
    'no-json': '[1]',
    'of-others/other': '{}',
  };

  beforeAll(async () => {
    for (const [name, content] of Object.entries(catalogs)) {
      await mkdir(join(dir, name), { recursive: true });
      await writeFile(join(dir, name, 'catalog.json'), content);
    }
  });

  test.each([
    [['schemaless']],
    [['invalid']],
    [['odd-name']],
    [['odd-package']],
    [['no-json']],
    [['nowhere']],
    [['good/catalog.json']],
    [['good', '--cache-only']],
    [['good', '--cache-enforce-integrity']],
    [['good', '--cache-dir', 'of-others']],
    [['good', '--cache-dir', 'empty']],
    [['good', '-t', 'no-folder/log', '--cache-only']],
    [['good', '-p', 'nope']],
    [[]],
    [['--help']],
  ])('serve %j', async (args) => {
    const pprof = args.includes('--help') ? [] : ['--pprof-addr', ''];
    const log = args.includes('-t') || args.includes('--help') ? [] : ['-t', 'log'];
    const normalise = (text: string) =>
      text.replaceAll('pogreb.v1', 'rukpak.v1').replaceAll(/\/\S*\/opm-serve-cache-\w+/g, 'CACHE');
    const both = await runBothOpms(['serve', ...args, ...pprof, ...log], { cwd: dir, normalise });
    expect(both.ours).toEqual(both.theirs);
  });

  test('a cache of other files is refused, and told', async () => {
    const hidden = (text: string) =>
      text.replaceAll(/[0-9a-f]{16,64}/g, 'DIGEST').replaceAll('pogreb.v1', 'rukpak.v1');
    const args = ['serve', 'good', '--cache-dir', 'kept', '--pprof-addr', '', '-t', 'log'];
    const first = await runBothOpms([...args, '--cache-only'], { cwd: dir, normalise: hidden });
    expect(first.ours.code).toBe(0);
    await writeFile(join(dir, 'good/more.json'), '{"schema":"acme.more"}');
    const both = await runBothOpms(args, { cwd: dir, normalise: hidden });
    expect(both.ours).toEqual(both.theirs);
    expect(await readFile(join(dir, 'log'), 'utf8')).toContain('cache requires rebuild');
  });
});
