import { beforeEach, describe, expect, test, vi } from 'vitest';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import {
  aBundleOf,
  BundleDeploymentFixture,
  nameOf,
  v1,
  v2,
} from '../../../test/helpers/bundle-deployment-fixture.ts';
import { anObject } from '../../../test/helpers/registry-bundle.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import type { DeploymentHandler, InputReference } from '../../contracts/provisioner.ts';
import { TerminalError, WaitingError } from '../../errors.ts';

const handler = vi.fn<DeploymentHandler>();
const refusal = 'spec.config.name is a number: it must be a string';
const loadFailed = 'HasValidBundle False BundleLoadFailed';
const saidByClass = `${loadFailed}: class "plain", deployment()`;
const first = [anObject('ConfigMap', { name: 'first' })];
const next = [anObject('ConfigMap', { name: 'next' })];

beforeEach(() => {
  handler.mockReset().mockResolvedValue(first);
});

/** Deployment `demo`, whose Bundle is applied. */
async function anInstalled(
  spec: Partial<ReturnType<typeof aStoredDeployment>['spec']> = {},
): Promise<BundleDeploymentFixture> {
  const deployment = aStoredDeployment();
  const fixture = aProcess({ ...deployment, spec: { ...deployment.spec, ...spec } });
  fixture.have(aBundleOf());
  await fixture.reconcile();
  await fixture.reconcile();
  expect(fixture.status.activeBundle).toBe(nameOf());
  fixture.applier.apply.mockClear();
  handler.mockClear();
  return fixture;
}

function aProcess(deployment = aStoredDeployment()): BundleDeploymentFixture {
  const provisioners = new Map([['plain', { className: 'plain', deployment: handler }]]);
  return new BundleDeploymentFixture(deployment, { provisioners });
}

function applied({ applier }: BundleDeploymentFixture) {
  return applier.apply.mock.calls.map(([{ objects }]) => objects);
}

describe('of a Bundle that is installed, where nothing can be made of it any more', () => {
  test.each<[string, Error, Partial<{ isThrown: boolean; wakeAfter: number }>]>([
    ['a config that is refused', new TerminalError(refusal), {}],
    ['what a class waits for', new WaitingError(refusal), { isThrown: true }],
    // The grant of the permission sends no event.
    ['an input that cannot be read', new Error(refusal), { isThrown: true, wakeAfter: 60_000 }],
  ])('the applied objects are kept in place, and %s is reported', async (_, error, outcome) => {
    const fixture = await anInstalled();
    handler.mockRejectedValue(error);
    fixture.changeSpec({ config: { name: 1 } });
    for (let tries = 1; tries <= 2; tries++) {
      expect(await fixture.failure()).toBe(outcome.isThrown === true ? error : undefined);
      expect(fixture.wakeAfter).toBe(outcome.wakeAfter);
      expect(fixture.conditions.map((line) => line.split(': ')[0])).toEqual([
        loadFailed,
        'Installed True InstallationSucceeded',
        'Healthy True Healthy',
      ]);
      expect(fixture.conditions[0]).toBe(`${saidByClass}: ${refusal}`);
      expect(applied(fixture)).toHaveLength(tries);
      expect(applied(fixture).at(-1)).toEqual(first);
    }
  });

  test('the same goes for what its Bundle’s class adapts', async () => {
    const configure = vi.fn(async (files: unknown) => files);
    const className = v1.spec.provisionerClassName;
    const bundleClasses = new Map([[className, { className, configure }]]);
    const fixture = new BundleDeploymentFixture(aStoredDeployment(), {
      bundleClasses: bundleClasses as never,
    });
    fixture.have(aBundleOf());
    await fixture.reconcile();
    const before = applied(fixture).at(-1);
    fixture.applier.apply.mockClear();
    configure.mockRejectedValue(new TerminalError(refusal));
    fixture.changeSpec({ config: { name: 1 } });
    await fixture.reconcile();
    expect(fixture.conditions[0]).toBe(`${loadFailed}: class "plain", configure(): ${refusal}`);
    expect(applied(fixture)).toEqual([before]);
  });

  test('it is made once more of what it was made of, where it is not remembered', async () => {
    const fixture = aProcess();
    fixture.have(aBundleOf());
    let value = 'good';
    fixture.facts.prepare.mockImplementation(async () => ({
      version: undefined,
      read: async () => ({ inputs: [Buffer.from(value)] }),
    }));
    handler.mockImplementation(async (_files, _deployment, { inputs: [input] }) => {
      if (String(input) === 'good') return first;
      throw new TerminalError('the values are no map');
    });
    await fixture.reconcile();
    fixture.applier.apply.mockClear();
    value = 'bad';
    await fixture.reconcile();
    expect(fixture.conditions[0]).toBe(`${saidByClass}: the values are no map`);
    expect(applied(fixture)).toEqual([first]);
  });

  test('it is not made of inputs that the class does not name any more', async () => {
    const references: InputReference[] = [{ kind: 'Secret', name: 'db', key: 'password' }];
    const inputs = vi.fn(async () => references);
    const fixture = new BundleDeploymentFixture(aStoredDeployment(), {
      provisioners: new Map([['plain', { className: 'plain', deployment: handler, inputs }]]),
    });
    fixture.have(aBundleOf());
    const read = async () => ({ inputs: [Buffer.from('secret')], references });
    fixture.facts.prepare.mockResolvedValue({ version: undefined, read });
    await fixture.reconcile();
    fixture.applier.apply.mockClear();
    handler.mockClear();
    fixture.facts.prepare.mockRejectedValue(new Error('ConfigMap "db" not found'));
    await fixture.failure();
    expect(applied(fixture)).toEqual([first]);
    inputs.mockResolvedValue([{ kind: 'ConfigMap', name: 'db', key: 'host' }, ...references]);
    await fixture.failure();
    expect(handler).toHaveBeenCalledTimes(1);
    expect(applied(fixture)).toHaveLength(1);
  });

  test('its repairs wait for no stage, and what others have changed is drift', async () => {
    const fixture = await anInstalled({ stages: { waitForReady: true } });
    handler.mockRejectedValue(new TerminalError(refusal));
    fixture.changeSpec({ config: { name: 1 } });
    await fixture.reconcile();
    const [request] = fixture.applier.apply.mock.calls[0] ?? [];
    expect(request).toMatchObject({ waitForReady: false, unchanged: true });
  });

  test('its certificates are renewed', async () => {
    const name = annotation.servingCertificate;
    handler.mockResolvedValue([
      anObject('Service', { name: 'web', annotations: { [name]: 'cert' } }),
    ]);
    const fixture = await anInstalled();
    handler.mockRejectedValue(new TerminalError(refusal));
    fixture.changeSpec({ config: { name: 1 } });
    await fixture.reconcile();
    expect(fixture.wakeAfter).toBeGreaterThan(0);
    fixture.clock.advance(fixture.wakeAfter ?? 0);
    await fixture.reconcile();
    const secret = applied(fixture)
      .at(-1)
      ?.find(({ kind }) => kind === 'Secret');
    expect(secret?.['data']).toHaveProperty(['next.crt']);
  });

  test('it is replaced as soon as something can be made again', async () => {
    const fixture = await anInstalled();
    handler.mockRejectedValue(new TerminalError(refusal));
    fixture.changeSpec({ config: { name: 1 } });
    await fixture.reconcile();
    handler.mockResolvedValue(next);
    fixture.changeSpec({ config: { name: 'a' } });
    await fixture.reconcile();
    expect(applied(fixture)).toEqual([first, next]);
    expect(fixture.conditions[0]).toMatch(/^HasValidBundle True/);
  });

  test('a repair that is refused is tried again', async () => {
    const fixture = await anInstalled();
    handler.mockRejectedValue(new TerminalError(refusal));
    fixture.changeSpec({ config: { name: 1 } });
    fixture.applier.apply.mockRejectedValueOnce(new Error('over quota'));
    expect(await fixture.failure()).toMatchObject({ message: 'over quota' });
    await fixture.reconcile();
    expect(applied(fixture)).toEqual([first, first]);
  });

  test('what another config has begun to replace is left as it is, until yet another one', async () => {
    const fixture = await anInstalled();
    let made = next;
    handler.mockImplementation(async (_files, { spec }) => {
      if (spec.config === undefined) return first;
      if (made !== next) throw new TerminalError(refusal);
      return made;
    });
    fixture.changeSpec({ config: { name: 'a' } });
    fixture.applier.apply.mockRejectedValueOnce(new Error('refused half-way'));
    await fixture.failure();
    fixture.applier.apply.mockClear();
    fixture.change({
      ...fixture.live,
      metadata: { ...fixture.live.metadata, labels: { a: 'b' } },
    });
    made = [];
    await fixture.reconcile();
    expect(applied(fixture)).toEqual([]);
    fixture.changeSpec({ config: { name: 1 } });
    await fixture.reconcile();
    expect(applied(fixture)).toEqual([first]);
  });

  test('a new process knows of nothing to keep', async () => {
    const former = await anInstalled();
    const fixture = aProcess(former.live);
    fixture.have(aBundleOf());
    handler.mockRejectedValue(new TerminalError(refusal));
    await fixture.reconcile();
    expect(fixture.conditions[0]).toBe(`${saidByClass}: ${refusal}`);
    expect(applied(fixture)).toEqual([]);
  });
});

describe('while a new Bundle is refused', () => {
  test('a config that the installed one does not take either leaves that as it was applied', async () => {
    const fixture = await anInstalled();
    handler.mockRejectedValue(new TerminalError(refusal));
    fixture.changeSpec({ template: v2, config: { name: 1 } });
    fixture.have(aBundleOf(v2));
    await fixture.reconcile();
    expect(fixture.conditions[0]).toBe(`${saidByClass}: ${refusal}`);
    expect(applied(fixture)).toEqual([first]);
    expect(fixture.status.activeBundle).toBe(nameOf(v1));
  });

  test('one that is applied in part is not taken back by a config that it does not take', async () => {
    const fixture = await anInstalled();
    handler.mockImplementation(async (_files, { spec }) => {
      if (spec.config === undefined) return next;
      throw new TerminalError(refusal);
    });
    fixture.have(aBundleOf(v2));
    fixture.changeSpec({ template: v2 });
    fixture.applier.apply.mockRejectedValueOnce(new Error('refused half-way'));
    await fixture.failure();
    fixture.applier.apply.mockClear();
    fixture.changeSpec({ config: { name: 1 } });
    await fixture.reconcile();
    expect(fixture.conditions[0]).toBe(`${saidByClass}: ${refusal}`);
    expect(applied(fixture)).toEqual([]);
  });

  test('a repair of the installed one that is refused is tried again', async () => {
    const fixture = await anInstalled();
    handler.mockImplementation(async (_files, _deployment, { installed }) => {
      if (installed === true) return first;
      throw new TerminalError(refusal);
    });
    fixture.changeSpec({ template: v2 });
    fixture.have(aBundleOf(v2));
    fixture.applier.apply.mockRejectedValueOnce(new Error('over quota'));
    await fixture.failure();
    await fixture.reconcile();
    expect(applied(fixture)).toEqual([first, first]);
  });
});

describe('a template and a config that change together', () => {
  const refused = new TerminalError('the content is refused');

  async function aChanged(dependsOn?: readonly string[]): Promise<BundleDeploymentFixture> {
    const fixture = await anInstalled();
    changeBoth(fixture, dependsOn);
    return fixture;
  }

  function changeBoth(fixture: BundleDeploymentFixture, dependsOn?: readonly string[]): void {
    handler.mockImplementation(async (_files, { spec }) =>
      spec.config === undefined ? first : next,
    );
    fixture.changeSpec({
      template: v2,
      config: { name: 'a' },
      ...(dependsOn && { dependsOn: dependsOn.map((name) => ({ name })) }),
    });
  }

  test.each(['Unpacking', 'Pending', 'Failing'])(
    'leave the installed Bundle as it was applied while the new one is %s',
    async (phase) => {
      const fixture = await aChanged();
      fixture.have(aBundleOf(v2, { phase }));
      await fixture.reconcile();
      expect(applied(fixture)).toEqual([first]);
      expect(fixture.status.activeBundle).toBe(nameOf(v1));
      fixture.have(aBundleOf(v2));
      await fixture.reconcile();
      expect(applied(fixture)).toEqual([first, next]);
      expect(fixture.status.activeBundle).toBe(nameOf(v2));
    },
  );

  test('leave it as it was applied while the new one waits for a dependency', async () => {
    const fixture = await aChanged(['db']);
    fixture.have(aBundleOf(v2));
    await fixture.reconcile();
    expect(fixture.conditions.join()).toContain('Progressing False WaitingForDependencies');
    expect(applied(fixture)).toEqual([first]);
  });

  test('leave it as it was applied while the content of the new one is refused', async () => {
    const fixture = await aChanged();
    fixture.have(aBundleOf(v2));
    handler.mockImplementation(async (_files, { spec }, { installed }) => {
      if (installed !== true) throw refused;
      return spec.config === undefined ? first : next;
    });
    await fixture.reconcile();
    expect(fixture.conditions[0]).toMatch(/^HasValidBundle False BundleLoadFailed/);
    expect(applied(fixture)).toEqual([first]);
  });

  test('go back together with the template only: a rollback gets the present config', async () => {
    const fixture = await anInstalled({ rollback: { deadline: '30s' } });
    fixture.applier.health.mockReturnValue([{ message: 'InProgress' }]);
    changeBoth(fixture);
    fixture.have(aBundleOf(v2));
    await fixture.reconcile();
    fixture.clock.advance(30_000);
    await fixture.reconcile();
    await fixture.reconcile();
    expect(fixture.status.activeBundle).toBe(nameOf(v1));
    expect(applied(fixture).at(-1)).toEqual(next);
  });

  test('leave it alone in a process that does not know how it was applied', async () => {
    const former = await anInstalled();
    const fixture = aProcess(former.live);
    changeBoth(fixture);
    fixture.have(...former.bundles.list(), aBundleOf(v2, { phase: 'Pending' }));
    await fixture.reconcile();
    expect(applied(fixture)).toEqual([]);
    expect(fixture.conditions.join()).toContain(`Waiting for the ${nameOf(v2)} Bundle`);
  });
});

describe('with upgradePolicy Manual', () => {
  test.each<[string, () => Promise<typeof next>, string]>([
    ['that is refused', () => Promise.reject(new TerminalError(refusal)), refusal],
    ['that nobody has approved', () => Promise.resolve(next), 'waits for approval'],
  ])('another config %s leaves what was applied in place', async (_, made, message) => {
    const fixture = await anInstalled({ upgradePolicy: 'Manual' });
    fixture.storedPlans.remove.mockClear();
    const { approval } = fixture.status;
    const [change] = [{ action: 'Change', group: '', kind: 'ConfigMap', name: 'x' } as const];
    const plan = {
      digest: 'foreseen',
      changes: [change],
      unchanged: 0,
      problems: [],
      warnings: [],
    };
    fixture.applier.plan.mockResolvedValue(plan);
    handler.mockImplementation(async (_files, { spec }) =>
      spec.config === undefined ? first : await made(),
    );
    fixture.changeSpec({ config: { name: 1 } });
    for (let tries = 1; tries <= 2; tries++) {
      await fixture.reconcile();
      expect(applied(fixture)).toHaveLength(tries);
      expect(applied(fixture).at(-1)).toEqual(first);
      expect(fixture.conditions.join('\n')).toContain(message);
      expect(fixture.status.approval).toEqual(approval);
    }
    expect(fixture.storedPlans.remove).not.toHaveBeenCalled();
  });
});
