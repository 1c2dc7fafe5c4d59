import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Bundle, BundleDeployment } from '../../../api/v1alpha1/index.ts';
import { aBundle, aBundleDeployment, anImage } from '../../../test/helpers/objects.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { defaultLimits } from '../../content/limits.ts';
import type { BundleFiles, ContentLimits } from '../../contracts/bundle-files.ts';
import type { Provisioner } from '../../contracts/provisioner.ts';
import { TerminalError } from '../../errors.ts';
import { runThirdParty, type ThirdPartyClass } from './run-third-party.ts';

/** What it does is told by the name of the object that it is called with. */
const hostile = `
import { readFileSync, writeFileSync, writeSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { setPriority } from 'node:os';
import v8, { setFlagsFromString } from 'node:v8';
import { defineProvisioner, TerminalError, type KubernetesObject } from 'rukpak-ts/sdk';
import { bundleCondition } from 'rukpak-ts/api/v1alpha1';

const object = (more: object): KubernetesObject =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, ...more }) as KubernetesObject;
const named = (name: string) => object({ metadata: { name } });
const frame = (head: string, body = ''): Buffer => {
  const prefix = Buffer.alloc(8);
  prefix.writeUInt32LE(Buffer.byteLength(head), 0);
  prefix.writeUInt32LE(Buffer.byteLength(body), 4);
  return Buffer.concat([prefix, Buffer.from(head), Buffer.from(body)]);
};
const say = (...messages: object[]) => {
  for (const message of messages) writeSync(3, frame(JSON.stringify(message)));
};
const end = { type: 'end' };
const quietly = (act: () => unknown) => { try { return String(act()); } catch (error) { return (error as Error).message; } };

const behaviours: Record<string, (context: any) => unknown> = {
  good: () => [named('good')],
  sdk: () => { throw new TerminalError('told by the sdk: ' + typeof bundleCondition); },
  cycle: () => { const data: any = {}; data.self = data; return [named('first'), object({ data })]; },
  million: () => Array.from({ length: 1_000_000 }, () => named('x')),
  text: () => 'objects',
  number: () => [named('first'), 5],
  kindless: () => [{ apiVersion: 'v1', metadata: { name: 'a' } }],
  nameless: () => [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 5 } }],
  function: () => [object({ data: { run: () => 1 } })],
  map: () => [object({ data: new Map() })],
  deep: () => { let data = {}; for (let i = 0; i < 5_000; i++) data = { data }; return [object({ data })]; },
  getter: () => [{ get apiVersion() { throw new RangeError('got you'); } }],
  value: () => { throw { code: 5, toString() { process.exit(4); } }; },
  nothing: () => { throw undefined; },
  proxy: () => { throw new Proxy(new Error('x'), { get() { throw 1; } }); },
  exit: () => process.exit(0),
  abort: () => process.abort(),
  kill: () => { process.kill(process.pid, 'SIGKILL'); return new Promise(() => undefined); },
  heap: () => { const all: object[] = []; for (;;) all.push({ all: all.length }); },
  buffers: () => { const all: Buffer[] = []; for (;;) all.push(Buffer.alloc(64 * 1024 * 1024, 1)); },
  huge: () => { Buffer.alloc(4 * 1024 ** 3, 1); return []; },
  garbage: () => { writeSync(3, frame('no JSON')); return new Promise(() => undefined); },
  odd: () => { say({ type: 'odd' }, end); return new Promise(() => undefined); },
  shapes: () => { say({ type: 'objects', objects: [{ kind: {} }] }, end); return new Promise(() => undefined); },
  large: () => {
    const prefix = Buffer.alloc(8);
    prefix.writeUInt32LE(4_000_000_000, 0);
    writeSync(3, prefix);
    return new Promise(() => undefined);
  },
  endless: () => { for (;;) quietly(() => say({ type: 'objects', objects: [named('x')] })); },
  flood: async ({ logger }) => {
    for (let i = 0; ; i++) {
      logger.info({ i }, 'x'.repeat(100));
      if (i % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }
  },
  print: () => { for (;;) quietly(() => writeSync(1, 'x'.repeat(100_000))); },
  files: () => { say({ type: 'files', files: { paths: ['a'], sizes: [1e15], directories: [] } }, { type: 'content' }); return new Promise(() => undefined); },
  reach: () => [object({ data: {
    passwd: quietly(() => readFileSync('/etc/passwd').length),
    write: quietly(() => writeFileSync('/tmp/written-by-a-class', 'x')),
    spawn: quietly(() => spawnSync('/bin/true').status),
    kill: quietly(() => process.kill(process.ppid, 0)),
    nice: quietly(() => setPriority(process.ppid, 19)),
    database: quietly(() => process.getBuiltinModule('node:sqlite')),
    flags: quietly(() => setFlagsFromString('--max-semi-space-size=8')),
    sameFlags: quietly(() => v8.setFlagsFromString('--max-semi-space-size=8')),
    bindings: quietly(() => (process as any).binding('v8')),
    env: Object.keys(process.env).join(),
    cwd: process.cwd(),
  } })],
};
const run = async (_: unknown, { metadata }: any, context: any): Promise<any> => await behaviours[metadata.name]!(context);
export default defineProvisioner({ className: 'hostile', bundle: run, configure: run, deployment: run, uses: ['seed'] });
`;

// Its processes have a low priority, and the machine may have others to run.
vi.setConfig({ testTimeout: 300_000 });

let directory: string;
const classes: ThirdPartyClass[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'third-party-'));
});

afterEach(async () => {
  await Promise.all(classes.splice(0).map((each) => each.close()));
});

afterAll(async () => {
  await rm(directory, { recursive: true });
});

async function start(text: string, path = 'class.ts', memoryMegabytes = 128): Promise<Provisioner> {
  const file = join(directory, path);
  await writeFile(file, text);
  const readable = [directory];
  const started = await runThirdParty({
    module: pathToFileURL(file),
    readable,
    memoryMegabytes,
    logger: silentLogger,
  });
  classes.push(started);
  return started.provisioner;
}

const noFiles: BundleFiles = { files: new Map(), directories: new Set() };

function context({ limits = defaultLimits }: { limits?: ContentLimits } = {}) {
  return { signal: AbortSignal.timeout(240_000), logger: silentLogger, limits, inputs: [] };
}

function objectsOf(provisioner: Provisioner, name: string) {
  const deployment = aBundleDeployment({ name, source: anImage('acme') }) as BundleDeployment;
  return provisioner.deployment!(noFiles, deployment, context());
}

async function errorOf(promise: Promise<unknown>): Promise<Error> {
  return await promise.then(
    () => expect.fail('nothing was thrown'),
    (error: Error) => error,
  );
}

test('a class is what its module says, and finds our sdk', async () => {
  const acme = await start(hostile);
  expect(acme).toMatchObject({ className: 'hostile', uses: ['seed'] });
  const keys = ['bundle', 'className', 'configure', 'deployment', 'uses'];
  expect(Object.keys(acme).toSorted()).toEqual(keys);
  expect(await objectsOf(acme, 'good')).toMatchObject([{ metadata: { name: 'good' } }]);
  const error = await errorOf(objectsOf(acme, 'sdk'));
  expect(error).toBeInstanceOf(TerminalError);
  expect(error.message).toBe('told by the sdk: object');
});

test('a class has little of this machine', async () => {
  const [object] = await objectsOf(await start(hostile), 'reach');
  expect(object).toMatchObject({
    data: {
      passwd: expect.stringContaining('restricted') as string,
      write: expect.stringContaining('restricted') as string,
      spawn: expect.stringContaining('restricted') as string,
      kill: 'a class may not signal other processes',
      nice: 'a class may not change priorities',
      database: 'undefined',
      flags: 'a class may not change the flags of V8',
      sameFlags: 'a class may not change the flags of V8',
      bindings: 'process.binding',
      cwd: '/',
    },
  });
  expect(object).not.toMatchObject({ data: { env: expect.stringContaining('PATH') as string } });
});

test('a file is found behind the links of a ConfigMap’s mount', async () => {
  const mount = join(directory, 'mount');
  await mkdir(join(mount, '..2026_11'), { recursive: true });
  await writeFile(join(mount, '..2026_11', 'acme.ts'), hostile);
  await symlink('..2026_11', join(mount, '..data'));
  await symlink('..data/acme.ts', join(mount, 'acme.ts'));
  const module = pathToFileURL(join(mount, 'acme.ts'));
  const options = { module, readable: [mount], memoryMegabytes: 128, logger: silentLogger };
  const started = await runThirdParty(options);
  classes.push(started);
  expect(await objectsOf(started.provisioner, 'good')).toHaveLength(1);
});

describe('what it does wrong is said', () => {
  const ofClass = 'of what class "hostile" made of the bundle';
  test.each([
    [
      'cycle',
      `object 2 ${ofClass} cannot be written as JSON: .data.self refers to what it is a part of`,
    ],
    ['million', 'bundle has more than 20000 objects (--max-content-entries): split it'],
    ['text', 'class "hostile" returned no array of objects'],
    ['number', `object 2 ${ofClass} is no object`],
    ['kindless', `object 1 ${ofClass} has no kind`],
    [
      'nameless',
      `object 1 (ConfigMap) ${ofClass} cannot be applied: json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string`,
    ],
    ['function', `object 1 ${ofClass} cannot be written as JSON: .data.run is a function`],
    ['map', `object 1 ${ofClass} cannot be written as JSON: .data is a Map, which is no JSON`],
    ['deep', `object 1 ${ofClass} is nested more than 250 deep`],
    ['getter', 'got you'],
    ['value', 'no Error was thrown but { code: 5, toString: [Function: toString] }'],
    ['nothing', 'no Error was thrown but undefined'],
    ['proxy', 'something was thrown that cannot be read'],
    [
      'exit',
      'the worker process of class "hostile" ended with exit code 0: what it printed is in the log',
    ],
    [
      'abort',
      'the worker process of class "hostile" ended by SIGABRT: what it printed is in the log',
    ],
    [
      'kill',
      'the worker process of class "hostile" ended by SIGKILL: what it printed is in the log',
    ],
    ['odd', expect.stringContaining('class "hostile" gave an answer that cannot be read: ')],
    ['garbage', expect.stringContaining('class "hostile" gave an answer that cannot be read: ')],
    ['shapes', `object 1 ${ofClass} has no kind`],
    [
      'large',
      'class "hostile" gave an answer that cannot be read: a message of it has 4000000000 bytes',
    ],
    ['endless', 'class "hostile" gave an answer that cannot be read: it has too many objects'],
    [
      'flood',
      'class "hostile" wrote more than 10000 lines or 8 MiB to the log in one call: have it write less',
    ],
    [
      'print',
      'class "hostile" wrote more than 10000 lines or 8 MiB to the log in one call: have it write less',
    ],
    ['files', 'class "hostile" gave an answer that cannot be read: its files are too large'],
  ] as const)('%s', async (name, message) => {
    const acme = await start(hostile);
    expect((await errorOf(objectsOf(acme, name))).message).toEqual(message);
    expect(await objectsOf(acme, 'good')).toHaveLength(1);
  });

  test.each(['heap', 'buffers', 'huge'])('memory: %s', async (name) => {
    const acme = await start(hostile);
    const error = await errorOf(objectsOf(acme, name));
    expect(error).toBeInstanceOf(TerminalError);
    expect(error.message).toBe(
      'class "hostile" needs more than 128 MiB of memory for this content: make it smaller, split it, or allow more (--provisioner-memory)',
    );
    expect(await objectsOf(acme, 'good')).toHaveLength(1);
  });

  test('files that are none', async () => {
    const acme = await start(hostile);
    const bundle = aBundle({ name: 'good', source: anImage('acme') }) as Bundle;
    const message = 'class "hostile" returned no files: "files" is no Map of paths and bytes';
    await expect(acme.bundle!(noFiles, bundle, context())).rejects.toThrow(message);
    const deployment = aBundleDeployment({ name: 'good', source: anImage('acme') });
    const configured = acme.configure!(noFiles, deployment as BundleDeployment, context());
    await expect(configured).rejects.toThrow(message);
  });
});

describe('a class is refused', () => {
  const whole = { className: 'acme', contractVersion: 1, bundle: 0 };
  const exporting = (fields: object) =>
    `export default ${JSON.stringify({ ...whole, ...fields }).replace('"bundle":0', '"bundle":()=>0')};`;

  test.each([
    ['export const a = 1;', 'it exports no provisioner: '],
    ['export default null;', 'it exports no provisioner: '],
    [exporting({ className: 'Acme' }), 'its className "Acme" is none: '],
    [exporting({ contractVersion: undefined }), 'does not say for which contract it is written'],
    [exporting({ contractVersion: 2 }), 'class "acme" is written for contract version 2, and this'],
    [exporting({ bundle: 5 }), 'class "acme" has neither a bundle nor a deployment handler'],
    [exporting({ uses: ['secrets'] }), 'class "acme" uses "secrets": there are "cluster" and'],
    ['throw new Error("not today");', 'not today'],
    ['throw 5;', '5'],
    ['process.exit(7);', 'the worker process of its module ended with exit code 7'],
    ['import "no-such-package";', "Cannot find package 'no-such-package'"],
    ['enum A { b }; export default A;', 'enum'],
  ])('%s', async (text, message) => {
    await expect(start(text, 'refused.ts')).rejects.toThrow(message);
  });

  test('as TypeScript inside node_modules, with the way out', async () => {
    await mkdir(join(directory, 'node_modules', 'acme'), { recursive: true });
    await expect(start(hostile, 'node_modules/acme/index.ts')).rejects.toThrow(
      'it is TypeScript inside node_modules, which Node does not run: have the package bring JavaScript',
    );
  });
});
