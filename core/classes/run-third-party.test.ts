// @module-tag process

import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Bundle, BundleDeployment } from '../../api/v1alpha1/index.ts';
import { ampleMemory } from '../../test/helpers/ample-memory.ts';
import { aBundle, aBundleDeployment, anImage } from '../../test/helpers/objects.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import { defaultLimits } from '../content/index.ts';
import type { BundleFiles, ContentLimits } from '../contracts/bundle-files.ts';
import type { Provisioner } from '../contracts/provisioner.ts';
import { TerminalError } from '../errors.ts';
import type { ClassHost } from './class-host.ts';
import { runThirdParty } from './run-third-party.ts';

/** As its author would write it. */
const good = `
import { defineProvisioner, TerminalError, type KubernetesObject } from 'rukpak-ts/sdk';
import { bundleCondition } from 'rukpak-ts/api/v1alpha1';

const run = async (_: unknown, { metadata }: any): Promise<any> => {
  if (metadata.name === 'sdk') throw new TerminalError('told by the sdk: ' + typeof bundleCondition);
  return [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'good' } } satisfies KubernetesObject];
};
export default defineProvisioner({ className: 'good', bundle: run, configure: run, deployment: run, uses: ['seed'] });
`;

/**
 * What it does is told by the name of the object that it is called with. Without our sdk: each of
 * its processes would take three times as long to start.
 */
const hostile = `
import { readFileSync, writeFileSync, writeSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { request } from 'node:http';
import { connect, createServer } from 'node:net';
import { setPriority } from 'node:os';
import v8, { setFlagsFromString } from 'node:v8';

const object = (more: object) =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, ...more });
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
  cycle: () => { const data: any = {}; data.self = data; return [named('first'), object({ data })]; },
  million: () => Array(1_000_000).fill(named('x')),
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
    socket: quietly(() => connect('/tmp/rukpak-some.sock').on('error', () => {})),
    abstract: quietly(() => connect({ path: '\\0rukpak-some' }).on('error', () => {})),
    http: quietly(() => request({ socketPath: '/tmp/rukpak-some.sock' }).on('error', () => {})),
    listen: quietly(() => createServer().on('error', () => {}).listen('/tmp/rukpak-class.sock')),
    handle: quietly(() => new (process.stdout as any)._handle.constructor(0).bind('/tmp/rukpak-class.sock')),
    changed: quietly(() => { delete Object.getPrototypeOf((process.stdout as any)._handle).bind; }),
    env: Object.keys(process.env).join(),
    cwd: process.cwd(),
  } })],
};
const run = async (_: unknown, { metadata }: any, context: any): Promise<any> => await behaviours[metadata.name]!(context);
export default { className: 'hostile', contractVersion: 1, bundle: run, configure: run, deployment: run };
`;

// Its processes have a low priority, and the machine may have others to run.
vi.setConfig({ testTimeout: 300_000 });

/** Of each of its processes. */
const memoryMegabytes = 64;

let directory: string;
const classes: ClassHost[] = [];
/** One for all tests: where its process is ended, the next call starts another. */
let acme: Provisioner;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'third-party-'));
  acme = await start(hostile, 'hostile.ts');
});

afterAll(async () => {
  await Promise.all(classes.map((each) => each.close()));
  await rm(directory, { recursive: true });
});

async function start(text: string, path: string): Promise<Provisioner> {
  const file = join(directory, path);
  await writeFile(file, text);
  return await open(file, [directory]);
}

async function open(file: string, readable: readonly string[]): Promise<Provisioner> {
  const module = pathToFileURL(file);
  const started = await runThirdParty({
    module,
    readable,
    memoryMegabytes,
    memory: ampleMemory(),
    logger: silentLogger,
  });
  classes.push(started);
  return started.provisioners[0]!;
}

const noFiles: BundleFiles = { files: new Map(), directories: new Set() };

function context(limits = defaultLimits) {
  return { signal: AbortSignal.timeout(240_000), logger: silentLogger, limits, inputs: [] };
}

function objectsOf(provisioner: Provisioner, name: string, limits?: ContentLimits) {
  const deployment = aBundleDeployment({ name, source: anImage('acme') }) as BundleDeployment;
  return provisioner.deployment!(noFiles, deployment, context(limits));
}

async function errorOf(promise: Promise<unknown>): Promise<Error> {
  return await promise.then(
    () => expect.fail('nothing was thrown'),
    (error: Error) => error,
  );
}

test('a class is what its module says, and finds our sdk', async () => {
  const started = await start(good, 'good.ts');
  expect(started).toMatchObject({ className: 'good', uses: ['seed'] });
  const keys = ['bundle', 'className', 'configure', 'deployment', 'uses'];
  expect(Object.keys(started).toSorted()).toEqual(keys);
  expect(await objectsOf(started, 'good')).toMatchObject([{ metadata: { name: 'good' } }]);
  const error = await errorOf(objectsOf(started, 'sdk'));
  expect(error).toBeInstanceOf(TerminalError);
  expect(error.message).toBe('told by the sdk: object');
});

test('a class has little of this machine', async () => {
  const [object] = await objectsOf(acme, 'reach');
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
      ...Object.fromEntries(
        ['socket', 'abstract', 'http', 'listen', 'handle'].map((way) => [
          way,
          'a class may not use Unix sockets',
        ]),
      ),
      changed: expect.stringContaining('Cannot delete property') as string,
      cwd: '/',
    },
  });
  expect(object).not.toMatchObject({ data: { env: expect.stringContaining('PATH') as string } });
});

test('a file is found behind the links of a ConfigMap’s mount', async () => {
  const mount = join(directory, 'mount');
  await mkdir(join(mount, '..2026_11'), { recursive: true });
  await writeFile(join(mount, '..2026_11', 'acme.ts'), good);
  await symlink('..2026_11', join(mount, '..data'));
  await symlink('..data/acme.ts', join(mount, 'acme.ts'));
  const started = await open(join(mount, 'acme.ts'), [mount]);
  expect(await objectsOf(started, 'good')).toHaveLength(1);
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
    ['number', `object 2 ${ofClass} is not an object`],
    ['kindless', `object 1 ${ofClass} has no kind`],
    [
      'nameless',
      `object 1 (ConfigMap) ${ofClass} cannot be applied: json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string`,
    ],
    ['function', `object 1 ${ofClass} cannot be written as JSON: .data.run is a function`],
    ['map', `object 1 ${ofClass} cannot be written as JSON: .data is a Map, which is not JSON`],
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
      'the worker process of class "hostile" was killed by SIGKILL, and not by core: the memory limit of the kernel or the container is the likely cause',
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
    const limits = name === 'endless' ? { ...defaultLimits, maxEntries: 100 } : defaultLimits;
    expect((await errorOf(objectsOf(acme, name, limits))).message).toEqual(message);
    expect(await objectsOf(acme, 'good')).toHaveLength(1);
  });

  test.each(['heap', 'buffers', 'huge'])('memory: %s', async (name) => {
    const error = await errorOf(objectsOf(acme, name));
    expect(error).toBeInstanceOf(TerminalError);
    expect(error.message).toBe(
      'class "hostile" needs more than 64 MiB of memory for this content: make it smaller, split it, or allow more (--provisioner-memory)',
    );
    expect(await objectsOf(acme, 'good')).toHaveLength(1);
  });

  test('files that are none', async () => {
    const bundle = aBundle({ name: 'good', source: anImage('acme') }) as Bundle;
    const message = 'class "hostile" returned no files: "files" is not a Map of paths and bytes';
    await expect(acme.bundle!(noFiles, bundle, context())).rejects.toThrow(message);
    const deployment = aBundleDeployment({ name: 'good', source: anImage('acme') });
    const configured = acme.configure!(noFiles, deployment as BundleDeployment, context());
    await expect(configured).rejects.toThrow(message);
  });
});

test('a handler keeps the object that it belongs to', async () => {
  const text = `export default {
    className: 'acme',
    contractVersion: 1,
    objects: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'own' } }],
    async deployment() { return this.objects; },
  };`;
  const own = basename(await mkdtemp(join(directory, 'own-')));
  const acme = await start(text, join(own, 'own.ts'));
  expect(await objectsOf(acme, 'any')).toMatchObject([{ metadata: { name: 'own' } }]);
});

// Each has a process of its own that is started and no more: together they wait less.
describe.concurrent('a class is refused', () => {
  const whole = { className: 'acme', contractVersion: 1, bundle: 0 };
  const exporting = (fields: object) =>
    `export default ${JSON.stringify({ ...whole, ...fields }).replace('"bundle":0', '"bundle":()=>0')};`;

  test.each([
    ['export const a = 1;', 'it exports no provisioner: '],
    ['export default null;', 'it exports no provisioner: '],
    [exporting({ className: 'Acme' }), 'its className "Acme" is invalid: '],
    [exporting({ contractVersion: undefined }), 'does not say for which contract it is written'],
    [exporting({ contractVersion: 2 }), 'class "acme" is written for contract version 2, and this'],
    [exporting({ bundle: 5 }), 'class "acme" has neither a bundle nor a deployment handler'],
    [
      'export default { className: "acme", contractVersion: 1, bundle: () => 0, configur: () => 0 };',
      'class "acme" has a function "configur", which core never calls: did you mean configure?',
    ],
    [exporting({ uses: ['secrets'] }), 'class "acme" uses "secrets": there are "cluster" and'],
    ['throw new Error("not today");', 'not today'],
    ['throw 5;', 'refused.ts: 5'],
    ['process.exit(7);', 'the worker process of its module ended with exit code 7'],
    ['import "no-such-package";', "Cannot find package 'no-such-package'"],
    ['enum A { b }; export default A;', 'enum'],
  ])('%s', async (text, message) => {
    const own = basename(await mkdtemp(join(directory, 'own-')));
    await expect(start(text, join(own, 'refused.ts'))).rejects.toThrow(message);
  });

  test.each(['wrong.ts', 'wrong.mjs'])('with the line of what is wrong in %s', async (name) => {
    const own = basename(await mkdtemp(join(directory, 'own-')));
    const text = `export default {\n  className: 'acme',\n  bundle: async ( => 1,\n};\n`;
    await expect(start(text, join(own, name))).rejects.toThrow(
      `(line 3 of ${join(directory, own, name)})`,
    );
  });

  test('as TypeScript inside node_modules, with the way out', async () => {
    await mkdir(join(directory, 'node_modules', 'acme'), { recursive: true });
    await expect(start(good, 'node_modules/acme/index.ts')).rejects.toThrow(
      'it is TypeScript inside node_modules, which Node does not run: publish JavaScript in the package',
    );
  });
});
