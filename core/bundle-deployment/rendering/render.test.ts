import { beforeEach, describe, expect, test, vi } from 'vitest';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import {
  aBundleOf,
  BundleDeploymentFixture,
  content,
  objects,
} from '../../../test/helpers/bundle-deployment-fixture.ts';
import { aTree } from '../../../test/helpers/registry-bundle.ts';
import { aStoredDeployment, aTemplate } from '../../../test/helpers/stored-objects.ts';
import { OutOfTimeError } from '../../classes/index.ts';
import { defaultLimits } from '../../content/index.ts';
import type { ConfigureHandler, Provisioner } from '../../contracts/provisioner.ts';
import { TerminalError, WaitingError } from '../../errors.ts';

const adapted = aTree({ 'manifests/adapted.yaml': 'kind: ConfigMap' });
const template = aTemplate('example.com/app:v1');
const seed = Buffer.from('seed');
const cluster = { version: 'v1.36.3', apiVersions: ['v1'], systemNamespace: 'rukpak-system' };

const configure = vi.fn<ConfigureHandler>();

beforeEach(() => {
  configure.mockReset().mockResolvedValue(adapted);
});

/** Deployment `demo` of class `plain`, with a Bundle of the given class. */
function aFixture(bundleClass: Partial<Provisioner> = { configure }, limits = defaultLimits) {
  const className = template.spec.provisionerClassName;
  const bundleClasses = new Map([[className, { className, ...bundleClass }]]);
  const fixture = new BundleDeploymentFixture(aStoredDeployment({ template }), {
    bundleClasses,
    limits,
  });
  fixture.have(aBundleOf(template));
  fixture.facts.prepare.mockResolvedValue({
    version: '',
    read: async () => ({ inputs: [Buffer.from('secret')], cluster, seed }),
  });
  return fixture;
}

test('what a class warns of is told in Events, a few for each rendering', async () => {
  const fixture = aFixture();
  fixture.handler.mockImplementation(async (_, __, { logger }) => {
    const child = logger.child({ chart: 'web' });
    for (let warnings = 0; warnings < 9; warnings += 1) {
      child.warn(
        { warning: `value ${warnings} has no effect`, line: 3 },
        'the chart has a warning',
      );
    }
    logger.info({}, 'not worth an Event');
    return objects;
  });
  configure.mockResolvedValue(content);
  for (let reconciles = 0; reconciles < 2; reconciles += 1) await fixture.reconcile();
  const told = fixture.events.taken().filter((event) => event.includes('ClassWarning'));
  expect(told).toHaveLength(5);
  expect(told[0]).toBe(
    'Warning ClassWarning: the chart has a warning: value 0 has no effect (class "plain")',
  );
});

describe('the class of the Bundle', () => {
  test('adapts the stored content for the deployment, whose class is given that', async () => {
    const fixture = aFixture();
    await fixture.reconcile();
    expect(configure.mock.calls[0]?.slice(0, 2)).toEqual([
      content,
      fixture.handler.mock.calls[0]?.[1],
    ]);
    expect(fixture.handler.mock.calls[0]?.[0]).toBe(adapted);
    expect(fixture.applier.apply.mock.calls[0]?.[0].objects).toEqual(objects);
  });

  test('is asked again for another config only, and no content is loaded twice', async () => {
    const fixture = aFixture();
    await fixture.reconcile();
    await fixture.reconcile();
    expect(configure).toHaveBeenCalledTimes(1);
    expect(fixture.load).toHaveBeenCalledTimes(1);
    fixture.changeSpec({ config: { watchNamespace: 'a' } });
    await fixture.reconcile();
    expect(configure).toHaveBeenCalledTimes(2);
    expect(configure.mock.calls[1]?.[1].spec.config).toEqual({ watchNamespace: 'a' });
    expect(fixture.load).toHaveBeenCalledTimes(2);
  });

  test('has its part in what facts are prepared', async () => {
    const fixture = aFixture({ configure, uses: ['cluster'] });
    await fixture.reconcile();
    expect(fixture.facts.prepare.mock.calls[0]?.[1]).toMatchObject({
      deployment: { className: 'plain' },
      bundle: { uses: ['cluster'] },
    });
  });

  test('receives the facts that it uses, no inputs, and no facts that only the other class uses', async () => {
    const fixture = aFixture({ configure, uses: ['cluster'] });
    await fixture.reconcile();
    const [, , given] = configure.mock.calls[0] ?? [];
    expect(given).toMatchObject({ inputs: [], cluster });
    expect(given).not.toHaveProperty('seed');
    const [, , ofDeployment] = fixture.handler.mock.calls[0] ?? [];
    expect(ofDeployment?.inputs).toHaveLength(1);
    expect(ofDeployment).not.toHaveProperty('cluster');
  });

  test('knows whether its content is installed already', async () => {
    const fixture = aFixture();
    await fixture.reconcile();
    expect(configure.mock.calls[0]?.[2]).not.toHaveProperty('installed');
    fixture.changeSpec({ config: { watchNamespace: 'a' } });
    await fixture.reconcile();
    expect(configure.mock.calls[1]?.[2]).toMatchObject({ installed: true });
  });

  test('that adapts nothing has no part', async () => {
    const fixture = aFixture({});
    await fixture.reconcile();
    expect(fixture.handler.mock.calls[0]?.[0]).toBe(content);
    expect(fixture.facts.prepare.mock.calls[0]?.[1]).toEqual({
      deployment: expect.objectContaining({ className: 'plain' }) as Provisioner,
    });
  });

  test('of another process leaves the content as it is', async () => {
    const fixture = new BundleDeploymentFixture();
    fixture.have(aBundleOf(template));
    await fixture.reconcile();
    expect(fixture.handler.mock.calls[0]?.[0]).toBe(content);
  });
});

test('an object that a class leaves out is not applied, and a Warning event says why once', async () => {
  const fixture = aFixture();
  const annotations = { [annotation.leftOut]: 'it is a sample' };
  const sample = { apiVersion: 'acme.io/v1', kind: 'Role', metadata: { name: 'a', annotations } };
  fixture.handler.mockResolvedValue([...objects, sample]);
  await fixture.reconcile();
  const leftOut = [
    { apiVersion: 'acme.io/v1', kind: 'Role', name: 'a', because: 'it is a sample' },
  ];
  expect(fixture.applier.apply.mock.calls[0]?.[0]).toMatchObject({ objects, leftOut });
  const warning = 'Warning ObjectLeftOut: Role "a" of acme.io/v1 is left out: it is a sample';
  expect(fixture.events.taken()).toContain(warning);
  await fixture.reconcile();
  expect(fixture.applier.apply.mock.calls[1]?.[0]).toMatchObject({ objects, leftOut });
  expect(fixture.events.taken()).not.toContain(warning);
});

describe('a missing answer of a class never counts as nothing to install', () => {
  test.each<[string, Partial<Provisioner>, string]>([
    [
      'deployment',
      { deployment: async () => undefined as never },
      'deployment(): the handler returned no objects',
    ],
    [
      'deployment, with null',
      { deployment: async () => null as never },
      'deployment(): the handler returned no objects',
    ],
    [
      'configure',
      { configure: async () => undefined as never },
      'configure(): the handler returned no files',
    ],
  ])('of %s: the installed objects stay', async (_, { deployment, ...bundleClass }, message) => {
    const fixture = aFixture({ configure: async (files) => files, ...bundleClass });
    if (deployment !== undefined) fixture.handler.mockImplementation(deployment);
    await fixture.failure();
    expect(fixture.conditions[0]).toBe(
      `HasValidBundle False BundleLoadFailed: class "plain", ${message}`,
    );
    expect(fixture.applier.apply).not.toHaveBeenCalled();
  });

  test('no objects are a valid answer', async () => {
    const fixture = aFixture();
    fixture.handler.mockResolvedValue([]);
    await fixture.reconcile();
    expect(fixture.applier.apply.mock.calls[0]?.[0].objects).toEqual([]);
  });

  test('nor does a class without the handler', async () => {
    const provisioners = new Map([['plain', { className: 'plain' }]]);
    const fixture = new BundleDeploymentFixture(aStoredDeployment({ template }), { provisioners });
    fixture.have(aBundleOf(template));
    await fixture.reconcile();
    expect(fixture.applier.apply).not.toHaveBeenCalled();
  });
});

describe('spec.config is never ignored', () => {
  const config = { watchNamespace: 'a' };
  const unserved =
    'this process does not serve class "acme". Serve class "acme" in this process too, or remove spec.config';
  const unconfigurable =
    'class "acme" has no handler "configure". Add the handler to the class, or remove spec.config';
  const acme = { ...template, spec: { ...template.spec, provisionerClassName: 'acme' } };

  function ofClass(bundleClasses: ReadonlyMap<string, Provisioner>, given: object | undefined) {
    const deployment = aStoredDeployment({ template: acme });
    const spec = { ...deployment.spec, ...(given && { config: given }) };
    const fixture = new BundleDeploymentFixture({ ...deployment, spec } as typeof deployment, {
      bundleClasses,
    });
    fixture.have(aBundleOf(acme));
    return fixture;
  }

  test.each([
    [new Map(), unserved],
    [new Map([['acme', { className: 'acme' }]]), unconfigurable],
  ])(
    'nothing is applied where the class of the Bundle cannot be asked: %#',
    async (classes, why) => {
      const fixture = ofClass(classes, config);
      expect(await fixture.failure()).toBeUndefined();
      const { name } = aBundleOf(acme).metadata;
      expect(fixture.conditions[0]).toBe(
        `HasValidBundle False BundleLoadFailed: spec.config cannot be applied to Bundle "${name}" of class "acme": ${why}`,
      );
      expect(fixture.applier.apply).not.toHaveBeenCalled();
      expect(fixture.handler).not.toHaveBeenCalled();
    },
  );

  test('and the installed objects are kept as applied', async () => {
    const fixture = ofClass(new Map(), undefined);
    await fixture.reconcile();
    fixture.changeSpec({ config });
    fixture.applier.apply.mockClear();
    await fixture.failure();
    expect(fixture.conditions[0]).toContain(unserved);
    expect(fixture.applier.apply.mock.calls[0]?.[0].objects).toEqual(objects);
    expect(fixture.handler).toHaveBeenCalledTimes(1);
  });

  test.each([
    ['without a config', new Map(), undefined],
    ['where its class adapts it', new Map([['acme', { className: 'acme', configure }]]), config],
  ])('it is applied %s', async (_, classes, given) => {
    const fixture = ofClass(classes, given);
    await fixture.reconcile();
    expect(fixture.applier.apply).toHaveBeenCalledTimes(1);
  });

  test('a class that deploys its own Bundles reads it itself', async () => {
    const fixture = new BundleDeploymentFixture();
    fixture.changeSpec({ config });
    fixture.have(aBundleOf(template));
    await fixture.reconcile();
    expect(fixture.handler.mock.calls[0]?.[1].spec.config).toEqual(config);
    expect(fixture.applier.apply).toHaveBeenCalledTimes(1);
  });
});

function refuseNewOnes(error: Error): void {
  configure.mockImplementation(async (_files, _deployment, { installed }) => {
    if (installed === true) return adapted;
    throw error;
  });
}

describe('what the class of the Bundle says is told', () => {
  const loadFailed = 'HasValidBundle False BundleLoadFailed';

  test('a refusal: only a change helps', async () => {
    const fixture = aFixture();
    configure.mockRejectedValue(new TerminalError('spec.config.watchNamespace: not supported'));
    expect(await fixture.failure()).toBeUndefined();
    const message = 'spec.config.watchNamespace: not supported';
    expect(fixture.conditions).toEqual([`${loadFailed}: class "plain", configure(): ${message}`]);
    expect(await fixture.failure()).toBeUndefined();
    expect(configure).toHaveBeenCalledTimes(1);
  });

  test('a refusal for what the cluster serves: it is asked again once the cluster differs', async () => {
    const fixture = aFixture();
    configure.mockRejectedValue(new TerminalError('needs API acme.io/v1'));
    expect(await fixture.failure()).toBeUndefined();
    // Served kinds are not watched.
    expect(fixture.wakeAfter).toBe(60_000);
    const apiVersions = [...cluster.apiVersions, 'acme.io/v1'];
    const read = async () => ({ inputs: [], cluster: { ...cluster, apiVersions } });
    fixture.facts.prepare.mockResolvedValue({ version: 'other', read });
    configure.mockResolvedValue(adapted);
    expect(await fixture.failure()).toBeUndefined();
    expect(fixture.conditions[0]).toMatch(/^HasValidBundle True UnpackSuccessful/);
  });

  test('a refusal of a class that knows nothing of the cluster waits for nothing', async () => {
    const fixture = aFixture();
    fixture.facts.prepare.mockResolvedValue({ version: '', read: async () => ({ inputs: [] }) });
    configure.mockRejectedValue(new TerminalError('not supported'));
    expect(await fixture.failure()).toBeUndefined();
    expect(fixture.wakeAfter).toBeUndefined();
  });

  test('waiting: it is tried again, and sees what the cluster serves by then', async () => {
    const fixture = aFixture();
    const waiting = new WaitingError('CustomResourceDefinition "a.example.com" is not there');
    configure.mockRejectedValue(waiting);
    for (let tries = 1; tries <= 2; tries++) {
      expect(await fixture.failure()).toBe(waiting);
      expect(fixture.conditions).toEqual([`${loadFailed}: ${waiting.message}`]);
      expect(fixture.facts.renew).toHaveBeenCalledTimes(tries);
      expect(fixture.wakeAfter).toBe(60_000);
    }
    configure.mockResolvedValue(adapted);
    expect(await fixture.failure()).toBeUndefined();
    expect(fixture.conditions[0]).toMatch(/^HasValidBundle True UnpackSuccessful/);
    expect(fixture.facts.renew).toHaveBeenCalledTimes(2);
  });

  test('waiting of a class that knows nothing of the cluster is for something else', async () => {
    const fixture = aFixture();
    fixture.facts.prepare.mockResolvedValue({ version: '', read: async () => ({ inputs: [] }) });
    configure.mockRejectedValue(new WaitingError('the server is away'));
    expect(await fixture.failure()).toBeInstanceOf(WaitingError);
    expect(fixture.facts.renew).not.toHaveBeenCalled();
    expect(fixture.wakeAfter).toBeUndefined();
  });

  test('waiting for another config, while the former one stays', async () => {
    const fixture = aFixture();
    await fixture.reconcile();
    const { activeBundle } = fixture.status;
    configure.mockRejectedValue(new WaitingError('namespace "a" is not there'));
    fixture.changeSpec({ config: { watchNamespace: 'a' } });
    for (let tries = 1; tries <= 2; tries++) {
      await fixture.failure();
      expect(fixture.conditions[0]).toBe(
        `${loadFailed}: class "plain", configure(): namespace "a" is not there`,
      );
      expect(fixture.status.activeBundle).toBe(activeBundle);
    }
  });

  test.each([new WaitingError('not there'), new TerminalError('not supported')])(
    'that nothing can be made of a new Bundle, while the former one is kept in place: %s',
    async (error) => {
      const fixture = aFixture();
      await fixture.reconcile();
      const { activeBundle } = fixture.status;
      const next = aTemplate('example.com/app:v2');
      fixture.changeSpec({ template: next });
      fixture.have(aBundleOf(next));
      refuseNewOnes(error);
      for (let tries = 1; tries <= 2; tries++) {
        fixture.applier.apply.mockClear();
        const thrown = await fixture.failure();
        expect(thrown).toBe(error instanceof WaitingError ? error : undefined);
        expect(fixture.conditions[0]).toBe(`${loadFailed}: ${error.message}`);
        expect(fixture.applier.apply.mock.calls[0]?.[0].objects).toEqual(objects);
        expect(fixture.status.activeBundle).toBe(activeBundle);
      }
      configure.mockReset().mockResolvedValue(adapted);
      const read = async () => ({ inputs: [], cluster });
      fixture.facts.prepare.mockResolvedValue({ version: 'other', read });
      await fixture.reconcile();
      expect(fixture.status.activeBundle).not.toBe(activeBundle);
    },
  );

  test('that a new Bundle is refused, which needs no other try, while the health of the former one does', async () => {
    const fixture = aFixture();
    await fixture.reconcile();
    const next = aTemplate('example.com/app:v2');
    fixture.changeSpec({ template: next });
    fixture.have(aBundleOf(next));
    refuseNewOnes(new TerminalError('not supported'));
    fixture.applier.health.mockReturnValue([{ message: 'slow' }]);
    expect(await fixture.reconcile()).toEqual({ requeueAfter: 16_000 });
  });

  test('but what the new Bundle has begun to replace is left as it is', async () => {
    const fixture = aFixture();
    await fixture.reconcile();
    const next = aTemplate('example.com/app:v2');
    fixture.changeSpec({ template: next });
    fixture.have(aBundleOf(next));
    fixture.applier.apply.mockRejectedValueOnce(new Error('refused half-way'));
    await fixture.failure();
    fixture.applier.apply.mockClear();
    fixture.change({
      ...fixture.live,
      metadata: { ...fixture.live.metadata, labels: { a: 'b' } },
    });
    refuseNewOnes(new WaitingError('gone meanwhile'));
    for (let tries = 1; tries <= 2; tries++) await fixture.failure();
    expect(fixture.applier.apply).not.toHaveBeenCalled();
  });

  test('waiting is no news where the very same is installed', async () => {
    const former = aFixture();
    await former.reconcile();
    const fixture = aFixture();
    fixture.change(former.live);
    configure.mockRejectedValue(new WaitingError('not yet'));
    expect(await fixture.failure()).toBeInstanceOf(WaitingError);
    expect(fixture.conditions).toEqual(former.conditions);
  });

  test('more files than there may be', async () => {
    const fixture = aFixture({ configure }, { ...defaultLimits, maxEntries: 1 });
    await fixture.reconcile();
    expect(fixture.conditions[0]).toContain(`${loadFailed}: `);
    expect(fixture.handler).not.toHaveBeenCalled();
  });

  test('that it would never end, which is not tried again before values change', async () => {
    const fixture = aFixture();
    configure.mockRejectedValue(new OutOfTimeError('took longer than 30 s'));
    await fixture.reconcile();
    expect(fixture.conditions[0]).toBe(
      `${loadFailed}: class "plain", configure(): took longer than 30 s`,
    );
    await fixture.reconcile();
    expect(configure).toHaveBeenCalledTimes(1);
    configure.mockResolvedValue(adapted);
    fixture.changeSpec({ config: { watchNamespace: 'a' } });
    await fixture.reconcile();
    expect(configure).toHaveBeenCalledTimes(2);
    expect(fixture.applier.apply).toHaveBeenCalledTimes(1);
  });

  test('that it does not come to an end', async () => {
    const fixture = aFixture({ configure }, { ...defaultLimits, timeout: 10 });
    configure.mockReturnValue(new Promise(() => undefined));
    await fixture.failure();
    expect(fixture.conditions[0]).toContain(
      'class "plain", configure(): took longer than the limit of 0.01 s',
    );
  });
});
