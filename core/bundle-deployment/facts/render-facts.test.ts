import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { eventually } from '../../../test/helpers/eventually.ts';
import { FakeKubeClient } from '../../../test/helpers/fake-kube-client.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { defaultLimits } from '../../content/index.ts';
import type { InputReference, Provisioner } from '../../contracts/provisioner.ts';
import { ApiError } from '../../platform/kube/index.ts';
import { RenderFacts } from './render-facts.ts';

const systemNamespace = 'rukpak-system';
const secretValue: InputReference = { kind: 'Secret', name: 'login', key: 'password' };
const inputs = vi.fn<NonNullable<Provisioner['inputs']>>();
const reading: Provisioner = { className: 'acme', inputs };

let client: FakeKubeClient;
let stop: AbortController;
let clock: ManualClock;
let facts: RenderFacts;
const apiVersions = vi.fn(async (): Promise<readonly string[]> => served);
let served: readonly string[] = ['v1', 'v1/Pod'];
const invalidate = vi.fn();
const request = vi.fn(async () => ({ gitVersion: 'v1.36.3' }));

beforeEach(() => {
  vi.clearAllMocks();
  client = new FakeKubeClient();
  stop = new AbortController();
  clock = new ManualClock();
  inputs.mockReset().mockResolvedValue([secretValue]);
  facts = new RenderFacts({
    client: Object.assign(client, { request, impersonate: () => client }),
    discovery: { apiVersions, invalidate },
    systemNamespace,
    clock,
    logger: silentLogger,
    signal: stop.signal,
  });
});

afterEach(() => stop.abort());

function aSecret(text: string, name = 'login'): void {
  const data = { password: Buffer.from(text).toString('base64') };
  const metadata = { name, namespace: systemNamespace };
  client.put({ apiVersion: 'v1', kind: 'Secret', metadata, data });
}

async function prepare(provisioner = reading, deployment = aStoredDeployment()) {
  const context = { signal: stop.signal, logger: silentLogger, limits: defaultLimits };
  return await facts.prepare(deployment, { deployment: provisioner }, context);
}

async function prepareBoth(deployment: Provisioner, bundle: Provisioner) {
  const context = { signal: stop.signal, logger: silentLogger, limits: defaultLimits };
  return await facts.prepare(aStoredDeployment(), { deployment, bundle }, context);
}

async function inputTexts(): Promise<readonly (string | undefined)[]> {
  const { inputs: values } = await (await prepare()).read();
  return values.map((value) => (value === undefined ? value : Buffer.from(value).toString()));
}

test('of a class that asks for nothing, nothing is asked', async () => {
  const prepared = await prepare({ className: 'plain' });
  expect(prepared.version).toBe('');
  expect(await prepared.read()).toEqual({ inputs: [] });
  expect(client.calls).toEqual([]);
  expect(apiVersions).not.toHaveBeenCalled();
});

describe('inputs', () => {
  test('are read from the system namespace, in their order', async () => {
    aSecret('one');
    const metadata = { name: 'settings', namespace: systemNamespace };
    client.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'A' } });
    const optional = { ...secretValue, key: 'none', optional: true };
    inputs.mockResolvedValue([
      { kind: 'ConfigMap', name: 'settings', key: 'a' },
      optional,
      secretValue,
    ]);
    expect(await inputTexts()).toEqual(['A', undefined, 'one']);
  });

  test('are read with the rights of the deployment’s ServiceAccount', async () => {
    aSecret('one');
    const deployment = aStoredDeployment();
    const serviceAccount = { namespace: 'team', name: 'deployer' };
    const own = { ...deployment, spec: { ...deployment.spec, serviceAccount } };
    const denied = new FakeKubeClient();
    denied.faults.get = [new ApiError(403, { message: 'team:deployer may not' })];
    const impersonate = vi.spyOn(client, 'impersonate').mockReturnValue(denied);
    const prepared = await prepare(reading, own);
    await expect(prepared.read()).rejects.toThrow('cannot read Secret "login": team:deployer may');
    expect(impersonate).toHaveBeenCalledWith(serviceAccount);
    expect(client.calls).not.toContain('get');
  });

  test('that are missing are named', async () => {
    await expect(inputTexts()).rejects.toThrow(
      'class "plain" asks for key "password" of Secret "login" in namespace "rukpak-system", which does not exist: create it, or correct spec.config if that names it',
    );
  });

  test('that may not be read say so', async () => {
    client.faults.get = [new ApiError(403, { message: 'no' })];
    await expect(inputTexts()).rejects.toThrow('cannot read Secret "login": no');
  });

  test('are asked of the class once for each version of the deployment', async () => {
    aSecret('one');
    await prepare();
    await prepare();
    expect(inputs).toHaveBeenCalledTimes(1);
    const deployment = aStoredDeployment();
    const generation = 2;
    await prepare(reading, { ...deployment, metadata: { ...deployment.metadata, generation } });
    expect(inputs).toHaveBeenCalledTimes(2);
  });

  test('are asked for again before they are read: another version of the class may name others', async () => {
    aSecret('one');
    await prepare();
    const prepared = await prepare();
    inputs.mockResolvedValue([{ ...secretValue, key: 'host' }, secretValue]);
    const data = { host: 'aG9zdA==', password: Buffer.from('one').toString('base64') };
    const metadata = { name: 'login', namespace: systemNamespace };
    client.put({ apiVersion: 'v1', kind: 'Secret', metadata, data });
    const read = await prepared.read();
    expect(read.inputs.map(String)).toEqual(['host', 'one']);
    expect(read.references).toEqual([{ ...secretValue, key: 'host' }, secretValue]);
    expect(inputs).toHaveBeenCalledTimes(2);
  });

  test('of another version of the class have another version, also in the same object', async () => {
    aSecret('one');
    await eventually(async () => expect((await prepare()).version).toBeDefined());
    const prepared = await prepare();
    inputs.mockResolvedValue([{ ...secretValue, key: 'none', optional: true }]);
    await prepared.read();
    expect((await prepare()).version).not.toBe(prepared.version);
  });

  test('that a class begins to name are watched', async () => {
    const changed: string[] = [];
    facts.onChange((name) => changed.push(name));
    inputs.mockResolvedValue([]);
    await prepare();
    aSecret('one');
    inputs.mockResolvedValue([secretValue]);
    expect(await inputTexts()).toEqual(['one']);
    await prepare();
    await eventually(async () => expect((await prepare()).version).toBeDefined());
    changed.length = 0;
    aSecret('two');
    await eventually(() => expect(changed).toEqual(['demo']));
  });

  test('that were asked for just now are not asked for again', async () => {
    aSecret('one');
    await inputTexts();
    expect(inputs).toHaveBeenCalledTimes(1);
  });

  test('that are none are refused', async () => {
    inputs.mockResolvedValue([{ kind: 'Pod' } as never]);
    await expect(prepare()).rejects.toThrow('class "acme" returns invalid inputs: [0.kind]: ');
  });

  test('have a version once the watch knows it, and whoever asks for them is told of another', async () => {
    const changed: string[] = [];
    facts.onChange((name) => changed.push(name));
    aSecret('one');
    expect((await prepare()).version).toBeUndefined();
    await eventually(async () => expect((await prepare()).version).toBeDefined());
    const { version } = await prepare();
    expect((await prepare()).version).toBe(version);
    changed.length = 0;
    aSecret('unrelated', 'other');
    aSecret('two');
    await eventually(() => expect(changed).toEqual(['demo']));
    expect((await prepare()).version).not.toBe(version);
    await prepare(reading, aStoredDeployment({ name: 'other' }));
    facts.forget('demo');
    aSecret('three');
    await eventually(() => expect(changed).toEqual(['demo', 'other']));
  });
});

describe('facts of the cluster', () => {
  const using: Provisioner = { className: 'acme', uses: ['cluster'] };

  test('are read once, until the cluster serves something else', async () => {
    const first = await prepare(using);
    const cluster = { version: 'v1.36.3', apiVersions: served, systemNamespace };
    expect(await first.read()).toEqual({ inputs: [], cluster });
    expect((await prepare(using)).version).toBe(first.version);
    expect(request).toHaveBeenCalledTimes(1);
    served = [...served, 'v2'];
    expect((await prepare(using)).version).not.toBe(first.version);
    expect(request).toHaveBeenCalledTimes(2);
  });
});

describe('proxies of the cluster', () => {
  const using: Provisioner = { className: 'acme', uses: ['cluster'] };
  const kind = 'config.openshift.io/v1/Proxy';

  beforeEach(() => {
    served = [kind, 'v1', 'v1/Pod'];
  });

  function aProxy(status: object, name = 'cluster'): void {
    client.put({
      apiVersion: 'config.openshift.io/v1',
      kind: 'Proxy',
      metadata: { name },
      spec: { httpProxy: 'not yet checked' },
      status,
    });
  }

  async function proxy() {
    return (await (await prepare(using)).read()).cluster?.proxy;
  }

  test('come from status, if one is set', async () => {
    expect(await proxy()).toBeUndefined();
    aProxy({ httpProxy: 'http://p:1', httpsProxy: '', noProxy: '.svc', more: 1 });
    const expected = { httpProxy: 'http://p:1', noProxy: '.svc' };
    await eventually(async () => expect(await proxy()).toEqual(expected));
  });

  test('are read while the watch does not know them', async () => {
    aProxy({ httpProxy: 'http://p:1' });
    expect(await proxy()).toEqual({ httpProxy: 'http://p:1' });
    expect(client.calls).toContain('get');
  });

  test('have a part in the version, and whoever knows the cluster is told of others', async () => {
    const changed: string[] = [];
    facts.onChange((name) => changed.push(name));
    aProxy({ httpProxy: 'http://p:1' });
    await prepare(using);
    await eventually(() => expect(client.calls).toContain('watch'));
    const { version } = await prepare(using);
    aProxy({ httpProxy: 'http://unrelated' }, 'other');
    aProxy({ httpProxy: 'http://p:1', conditions: [] });
    aProxy({ httpProxy: 'http://p:2' });
    await eventually(() => expect(changed).toEqual(['demo']));
    expect((await prepare(using)).version).not.toBe(version);
    expect(await proxy()).toEqual({ httpProxy: 'http://p:2' });
    await prepare(using, aStoredDeployment({ name: 'other' }));
    facts.forget('demo');
    aProxy({ httpProxy: 'http://p:3' });
    await eventually(() => expect(changed).toEqual(['demo', 'other']));
  });

  test('disappear with their kind', async () => {
    aProxy({ httpProxy: 'http://p:1' });
    expect(await proxy()).toBeDefined();
    served = ['v1', 'v1/Pod'];
    expect(await proxy()).toBeUndefined();
  });

  test('are asked of no cluster that has none', async () => {
    served = ['v1', 'v1/Pod'];
    await prepare(using);
    expect(client.calls).toEqual([]);
  });
});

describe('where the Bundle’s class takes part', () => {
  const configure = vi.fn<NonNullable<Provisioner['configure']>>();

  test('the facts that it uses are collected too, and are part of the version', async () => {
    const using: Provisioner = { className: 'other', configure, uses: ['cluster'] };
    const first = await prepareBoth({ className: 'plain' }, using);
    expect(Object.keys(await first.read())).toEqual(['inputs', 'cluster']);
    expect((await prepareBoth({ className: 'plain' }, using)).version).toBe(first.version);
    served = [...served, 'v3'];
    expect((await prepareBoth({ className: 'plain' }, using)).version).not.toBe(first.version);
  });

  test('inputs are those of the deployment’s class alone', async () => {
    aSecret('one');
    const other = vi.fn<NonNullable<Provisioner['inputs']>>();
    const prepared = await prepareBoth(reading, { className: 'other', configure, inputs: other });
    expect((await prepared.read()).inputs).toHaveLength(1);
    expect(other).not.toHaveBeenCalled();
  });

  test('of one that uses nothing, nothing is asked', async () => {
    const prepared = await prepareBoth({ className: 'plain' }, { className: 'other', configure });
    expect(prepared.version).toBe('');
    expect(client.calls).toEqual([]);
    expect(apiVersions).not.toHaveBeenCalled();
  });
});

test('what the cluster serves is read anew when that is asked for', () => {
  facts.renew();
  expect(invalidate).toHaveBeenCalledTimes(1);
});

test('so it is after a minute: nothing tells of new kinds', async () => {
  const using: Provisioner = { className: 'acme', uses: ['cluster'] };
  for (let asked = 0; asked < 3; asked++) await prepare(using);
  expect(invalidate).not.toHaveBeenCalled();
  clock.advance(60_000);
  for (let asked = 0; asked < 3; asked++) await prepare(using);
  expect(invalidate).toHaveBeenCalledTimes(1);
  await prepare(reading);
  clock.advance(60_000);
  await prepare(reading);
  expect(invalidate).toHaveBeenCalledTimes(1);
});

describe('the seed', () => {
  const using: Provisioner = { className: 'acme', uses: ['seed'] };

  async function seedOf(name: string) {
    return (await (await prepare(using, aStoredDeployment({ name }))).read()).seed;
  }

  test('is one for each deployment, and comes from a Secret made once', async () => {
    const seed = await seedOf('a');
    expect(seed?.byteLength).toBe(32);
    expect(await seedOf('a')).toEqual(seed);
    expect(await seedOf('b')).not.toEqual(seed);
    expect(client.calls.filter((call) => call === 'create')).toHaveLength(1);
    expect(client.everything).toMatchObject([{ metadata: { name: 'rukpak-seed' } }]);
  });

  test('is the one of whoever made the Secret first', async () => {
    const seed = await seedOf('a');
    const [secret] = client.everything;
    client.faults.get = [new ApiError(404, {})];
    client.faults.create = [new ApiError(409, { reason: 'AlreadyExists' })];
    facts = new RenderFacts({
      client: Object.assign(client, { request, impersonate: () => client }),
      discovery: { apiVersions, invalidate },
      systemNamespace,
      clock,
      logger: silentLogger,
      signal: stop.signal,
    });
    expect(await seedOf('a')).toEqual(seed);
    expect(client.everything).toEqual([secret]);
  });

  test('is no shorter one: that is said', async () => {
    const metadata = { name: 'rukpak-seed', namespace: systemNamespace };
    client.put({ apiVersion: 'v1', kind: 'Secret', metadata, data: { seed: 'YQ==' } });
    await expect(seedOf('a')).rejects.toThrow('must have 32 bytes under key "seed"');
  });
});

test('a value that changes is told by its digest; one of a Secret only where a seed hides it', async () => {
  const both: Provisioner = { className: 'acme', inputs, uses: ['seed'] };
  const digests: (string | undefined)[] = [];
  for (const value of ['one', 'two']) {
    aSecret(value);
    for (const each of [both, reading]) {
      digests.push((await (await prepare(each)).read()).inputsDigest);
    }
  }
  expect(digests[0]).not.toBe(digests[2]);
  expect(digests[1]).toBe(digests[3]);
});
