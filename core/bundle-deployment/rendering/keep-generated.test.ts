import { describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import {
  aBundleOf,
  BundleDeploymentFixture,
  nameOf,
  v1,
  v2,
} from '../../../test/helpers/bundle-deployment-fixture.ts';
import { aTree } from '../../../test/helpers/registry-bundle.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';

interface Given {
  readonly seed: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly isInstalled?: boolean;
  /** Whether the class uses the seed. */
  readonly generates?: boolean;
}

function aSecret(password: string): KubernetesObject {
  const metadata = { name: 'login', namespace: 'shop' };
  const data = { password: Buffer.from(password).toString('base64'), user: 'YWRtaW4=' };
  return { apiVersion: 'v1', kind: 'Secret', metadata, data };
}

function aFixture({ seed, annotations = {}, isInstalled = true, generates = true }: Given) {
  const status = isInstalled ? { status: { activeBundle: nameOf(v1) } } : {};
  const fixture = new BundleDeploymentFixture(
    aStoredDeployment({ metadata: { annotations }, ...status }),
    {
      provisioners: new Map([
        [
          'plain',
          { className: 'plain', uses: ['seed'], deployment: (...args) => handler(...args) },
        ],
      ]),
    },
  );
  const { handler } = fixture;
  handler.mockImplementation(async (_, __, context) => [
    aSecret(generates ? Buffer.from(context.seed ?? '').toString('hex') : 'fixed'),
  ]);
  const facts = { inputs: [], seed: Buffer.from(seed), seedIdentity: `id-${seed}` };
  fixture.facts.prepare.mockResolvedValue({ version: seed, read: async () => facts });
  fixture.have(aBundleOf(v1));
  return fixture;
}

function progressOf(fixture: BundleDeploymentFixture): string {
  return fixture.conditions.find((text) => text.startsWith('Progressing ')) ?? '';
}

const generatedByA = Buffer.from('a').toString('hex');

test('the seed that values are generated with is remembered, without a Secret in the way', async () => {
  const fixture = aFixture({ seed: 'a', isInstalled: false });
  await fixture.reconcile();
  expect(fixture.live.metadata.annotations).toEqual({ [annotation.seed]: 'id-a' });
  expect(fixture.status.applied?.seed).toBe('id-a');
  await fixture.reconcile();
  expect(fixture.handler).toHaveBeenCalledOnce();
});

test('with another seed nothing is applied, and the condition has the choice', async () => {
  const fixture = aFixture({ seed: 'b', annotations: { [annotation.seed]: 'id-a' } });
  await fixture.reconcile();
  expect(fixture.applier.apply).not.toHaveBeenCalled();
  expect(progressOf(fixture)).toBe(
    'Progressing False SeedChanged: Secret "rukpak-seed" in namespace "rukpak-system" has seed id-b, and BundleDeployment "demo" was rendered with seed id-a: core does not change the generated values of Secret/shop/login. ' +
      'Restore that Secret from a backup, or accept new values: kubectl annotate --overwrite bundledeployment demo core.rukpak.io/accept-new-seed=id-b',
  );
  expect(fixture.facts.renew).toHaveBeenCalled();
  expect(fixture.wakeAfter).toBe(60_000);
});

test('another seed is taken where it is accepted, and where nothing is generated', async () => {
  const annotations = { [annotation.seed]: 'id-a' };
  const accepted = { ...annotations, [annotation.acceptNewSeed]: 'id-b' };
  for (const given of [
    { seed: 'b', annotations: accepted },
    { seed: 'b', annotations, generates: false },
  ]) {
    const fixture = aFixture(given);
    await fixture.reconcile();
    expect(fixture.applier.apply).toHaveBeenCalledOnce();
    expect(fixture.live.metadata.annotations).toMatchObject({ [annotation.seed]: 'id-b' });
  }
});

test('the process that applied the old values keeps them in place', async () => {
  const fixture = aFixture({ seed: 'a' });
  await fixture.reconcile();
  const facts = { inputs: [], seed: Buffer.from('b'), seedIdentity: 'id-b' };
  fixture.facts.prepare.mockResolvedValue({ version: 'b', read: async () => facts });
  await fixture.reconcile();
  expect(progressOf(fixture)).toContain('SeedChanged');
  const [request] = fixture.applier.apply.mock.lastCall ?? [];
  expect(request?.objects).toEqual([aSecret(generatedByA)]);
});

test('a Secret that lives with other generated values is not overwritten by a new deployment', async () => {
  const fixture = aFixture({ seed: 'b', isInstalled: false });
  fixture.client.put(aSecret('in use'));
  await fixture.reconcile();
  expect(fixture.applier.apply).not.toHaveBeenCalled();
  expect(fixture.conditions.join()).toContain('Installed False SeedChanged: Secret/shop/login of');
  expect(progressOf(fixture)).toContain(
    'core does not overwrite them. Set the present values in spec.config, restore the Secret "rukpak-seed" in namespace "rukpak-system" from a backup, or accept new values: kubectl',
  );
});

test('a Secret with the same generated values, or other values of the config, is no reason', async () => {
  const live = aSecret(generatedByA);
  for (const data of [live['data'], { ...(live['data'] as object), user: 'b3RoZXI=' }]) {
    const fixture = aFixture({ seed: 'a', isInstalled: false });
    fixture.client.put({ ...live, data });
    await fixture.reconcile();
    expect(fixture.applier.apply).toHaveBeenCalledOnce();
  }
});

describe('new content of the same seed', () => {
  interface Drawn {
    /** Number of random functions before the one of the password. */
    readonly before?: number;
    readonly host?: string;
  }

  function hex(text: string): string {
    return Buffer.from(text).toString('hex');
  }

  /** As a chart whose random functions follow each other. */
  function drawn(seed: string, { before = 0, host = 'db' }: Drawn): KubernetesObject {
    const password = hex(`${seed}-${before}`);
    const metadata = { name: 'login', namespace: 'shop' };
    const stringData = { url: `postgres://app:${password}@${host}/shop` };
    return { apiVersion: 'v1', kind: 'Secret', metadata, stringData };
  }

  /** As the API server keeps it after core's apply. */
  function stored(fixture: BundleDeploymentFixture, wanted: KubernetesObject): void {
    const { url } = wanted['stringData'] as { readonly url: string };
    const fieldsV1 = { 'f:data': { 'f:url': {} } };
    const managedFields = [{ manager: 'rukpak-core', operation: 'Apply', fieldsV1 }];
    const metadata = { ...wanted.metadata, managedFields } as KubernetesObject['metadata'];
    const data = { url: Buffer.from(url).toString('base64') };
    fixture.client.put({ apiVersion: 'v1', kind: 'Secret', metadata, data });
  }

  async function anInstalled(): Promise<BundleDeploymentFixture> {
    const fixture = aFixture({ seed: 'a', isInstalled: false });
    fixture.handler.mockImplementation(async (_, { spec }, { seed }) => [
      drawn(Buffer.from(seed ?? '').toString(), spec.config ?? {}),
    ]);
    await fixture.reconcile();
    stored(fixture, drawn('a', {}));
    fixture.applier.apply.mockClear();
    return fixture;
  }

  async function accept(fixture: BundleDeploymentFixture): Promise<void> {
    const { metadata } = fixture.live;
    const token = progressOf(fixture).slice(-16);
    const annotations = { ...metadata.annotations, [annotation.acceptNewSeed]: token };
    fixture.change({ ...fixture.live, metadata: { ...metadata, annotations } });
    await fixture.reconcile();
  }

  const shifted = { before: 1 };

  test('does not overwrite what another order of random functions draws, until that is accepted', async () => {
    const fixture = await anInstalled();
    fixture.changeSpec({ config: shifted });
    await fixture.reconcile();
    const said = progressOf(fixture);
    expect(said).toMatch(
      /^Progressing False GeneratedValuesChanged: BundleDeployment "demo" would get other generated values in Secret\/shop\/login, from the same seed, because its template, its config or the code of class plain has changed: core does not overwrite them\. Set the present values in spec\.config, or accept new values: kubectl annotate --overwrite bundledeployment demo core\.rukpak\.io\/accept-new-seed=[0-9a-f]{16}$/,
    );
    const [request] = fixture.applier.apply.mock.lastCall ?? [];
    expect(request?.objects).toEqual([drawn('a', {})]);

    await accept(fixture);
    expect(fixture.applier.apply.mock.lastCall?.[0].objects).toEqual([drawn('a', shifted)]);
    expect(progressOf(fixture)).toBe('');
  });

  test.each([
    [{ before: 1 }, 1],
    [{}, 0],
  ])(
    'is compared with the live Secret where the class draws %j in its next version',
    async (draws, asked) => {
      const former = await anInstalled();
      const fixture = aFixture({ seed: 'a' });
      fixture.change(former.live);
      fixture.handler.mockImplementation(async (_, __, { seed = [] }) => [
        drawn(Buffer.from(seed).toString(), draws),
      ]);
      stored(fixture, drawn('a', {}));
      await fixture.reconcile();
      expect(fixture.client.count('get')).toBe(asked);
      expect(progressOf(fixture).includes('GeneratedValuesChanged')).toBe(asked > 0);
      expect(fixture.applier.apply).toHaveBeenCalledTimes(1 - asked);
    },
  );

  test('is applied with another config around the same generated words', async () => {
    const fixture = await anInstalled();
    const config = { host: 'other' };
    fixture.changeSpec({ config });
    await fixture.reconcile();
    expect(fixture.applier.apply.mock.lastCall?.[0].objects).toEqual([drawn('a', config)]);
  });

  test('is applied over what another client has written', async () => {
    const fixture = await anInstalled();
    const { apiVersion, kind, metadata } = drawn('a', {});
    fixture.client.put({ apiVersion, kind, metadata, data: { url: 'b3RoZXI=' } });
    fixture.changeSpec({ config: shifted });
    await fixture.reconcile();
    expect(fixture.applier.apply.mock.lastCall?.[0].objects).toEqual([drawn('a', shifted)]);
  });

  test('of another Bundle leaves the active one in place, unless its class draws otherwise by now', async () => {
    for (const draws of [{}, { before: 2 }]) {
      const former = await anInstalled();
      const fixture = aFixture({ seed: 'a' });
      fixture.change(former.live);
      fixture.have(...former.bundles.list(), aBundleOf(v2));
      fixture.load.mockImplementation(async ({ metadata: { name = '' } }) => aTree({ name }));
      fixture.handler.mockImplementation(async ({ files }, _, { seed = [] }) => {
        const isNext = Buffer.from(files.get('name') ?? '').toString() === nameOf(v2);
        return [drawn(Buffer.from(seed).toString(), isNext ? shifted : draws)];
      });
      stored(fixture, drawn('a', {}));
      fixture.changeSpec({ template: v2 });
      await fixture.reconcile();
      expect(progressOf(fixture)).toContain('GeneratedValuesChanged');
      expect(fixture.status.activeBundle).toBe(nameOf(v1));
      const applied = fixture.applier.apply.mock.calls.map(([{ objects }]) => objects);
      expect(applied).toEqual('before' in draws ? [] : [[drawn('a', {})]]);
    }
  });

  test.each([
    [{ before: 2 }, []],
    [{}, [[drawn('a', {})]]],
  ])(
    'is not overwritten by the active Bundle of a new process that draws %j, while another is unpacked',
    async (draws, expected) => {
      const former = await anInstalled();
      const fixture = aFixture({ seed: 'a' });
      fixture.change(former.live);
      fixture.have(...former.bundles.list(), aBundleOf(v2, { phase: 'Failing' }));
      fixture.handler.mockImplementation(async (_, __, { seed = [] }) => [
        drawn(Buffer.from(seed).toString(), draws),
      ]);
      stored(fixture, drawn('a', {}));
      fixture.changeSpec({ template: v2 });
      await fixture.reconcile();
      const applied = fixture.applier.apply.mock.calls.map(([{ objects }]) => objects);
      expect(applied).toEqual(expected);
      expect(progressOf(fixture).includes('GeneratedValuesChanged')).toBe(expected.length === 0);
    },
  );

  test('that is rolled back gives the former values back without a question', async () => {
    const fixture = await anInstalled();
    fixture.load.mockImplementation(async ({ metadata: { name = '' } }) => aTree({ name }));
    fixture.handler.mockImplementation(async ({ files }, _, { seed = [] }) => {
      const isNext = Buffer.from(files.get('name') ?? '').toString() === nameOf(v2);
      return [drawn(Buffer.from(seed).toString(), isNext ? shifted : {})];
    });
    fixture.have(aBundleOf(v2));
    fixture.changeSpec({ template: v2, rollback: { deadline: '30s' } });
    fixture.applier.health.mockReturnValue([{ message: 'InProgress' }]);
    await fixture.reconcile();
    await accept(fixture);
    expect(fixture.applier.apply.mock.lastCall?.[0].objects).toEqual([drawn('a', shifted)]);
    stored(fixture, drawn('a', shifted));
    fixture.clock.advance(30_000);
    await fixture.reconcile();
    await fixture.reconcile();
    expect(progressOf(fixture)).toContain('RolledBack');
    expect(fixture.applier.apply.mock.lastCall?.[0].objects).toEqual([drawn('a', {})]);
  });
});
