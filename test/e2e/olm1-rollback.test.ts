// @module-tag long
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import type { TestOperator } from '../helpers/mirrored-catalog.ts';
import { Olm1System, operators } from '../helpers/olm1-system.ts';
import { plane } from '../helpers/plane.ts';

const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
let olm1: Olm1System;

beforeAll(async () => {
  olm1 = await Olm1System.start(plane);
});

afterAll(async () => {
  await olm1?.stop();
});

const name = 'late-painter';
const annotation = 'core.rukpak.io/rollback-deadline';
/** No node takes pods of 1.1.0. */
const late: TestOperator = {
  name,
  versions: ['1.0.0', '1.1.0'],
  pods: (version) => (version === '1.1.0' ? { nodeSelector: { 'example.com/none': 'none' } } : {}),
};

interface Given {
  readonly version: string;
  readonly deadline: string;
}

async function operator({ version, deadline }: Given): Promise<void> {
  await olm1.operator(name, version, { [annotation]: deadline });
}

interface Rollback {
  readonly from: string;
  readonly at: string;
}

/** The rollback that is in force, when the Operator says so and has 1.0.0 again. */
async function rolledBack(since = ''): Promise<Rollback> {
  return await eventually(async () => {
    const { status } = await kubectl.get('bundledeployment', name);
    const { rollback } = status as { readonly rollback?: Rollback };
    expect(rollback?.at ?? '').not.toBe(since);
    const live = await kubectl.get(operators, name);
    expect(conditionOf(live, 'Ready')).toMatchObject({
      status: 'False',
      reason: 'RolledBack',
      message: expect.stringMatching(
        /^Core rolled back to bundle "late-painter\.v1\.0\.0" at .*, because "late-painter\.v1\.1\.0" was not healthy within 5s \(.*annotation core\.rukpak\.io\/rollback-deadline/,
      ),
    });
    expect(conditionOf(live, 'Installed')).toMatchObject({ status: 'True' });
    expect(live['status']).toMatchObject({
      installed: { version: '1.0.0' },
      available: { version: '1.1.0', reason: 'InstallationFailed' },
    });
    return rollback as Rollback;
  });
}

async function isBackAtHealth(): Promise<void> {
  await eventually(async () => {
    const deployment = await kubectl.get('bundledeployment', name);
    expect(conditionOf(deployment, 'Healthy')).toMatchObject({ status: 'True' });
  });
}

/** What another attempt would change. */
async function attempts(): Promise<object> {
  const selector = `core.rukpak.io/owner-name=${name}`;
  const bundles = await kubectl.list('bundles', selector);
  const [deployment] = await kubectl.list('deployments', selector);
  const { spec, status } = await kubectl.get('bundledeployment', name);
  const { progress, rollback } = status as Readonly<Record<string, unknown>>;
  const uids = new Set(bundles.map(({ metadata }) => metadata.uid));
  return { uids, generation: deployment?.metadata.generation, spec, progress, rollback };
}

/** Gives the tag of the catalog other content, and waits until it is served. */
async function moved(...packages: readonly TestOperator[]): Promise<void> {
  const resolvedRef = async () => {
    const { status } = await kubectl.get('catalog', 'upgrades-late');
    return (status as { resolvedSource?: { image: { resolvedRef: string } } }).resolvedSource?.image
      .resolvedRef;
  };
  const before = await resolvedRef();
  await olm1.pushed('late', ...packages);
  await eventually(async () => {
    const after = await resolvedRef();
    expect(after).toBeDefined();
    expect(after).not.toBe(before);
  });
}

test('an upgrade that is not healthy in time is rolled back, and tried again for another spec or another catalog content only', async () => {
  await olm1.catalog('upgrades-late', { ref: await olm1.pushed('late', late), pollInterval: '1s' });
  await operator({ version: '1.0.0', deadline: '10m' });
  await olm1.isHealthyAt(operators, name, '1.0.0');
  await operator({ version: '>=1.0.0', deadline: '5s' });
  const first = await rolledBack();
  await isBackAtHealth();
  const before = await attempts();
  // Everything that makes the controllers look again.
  await kubectl.must(['annotate', operators, name, 'look=again']);
  await kubectl.must(['annotate', 'bundledeployment', name, 'look=again']);
  await moved(late, { name: 'other-painter', versions: ['1.0.0'] });
  await olm1.system.terminate();
  await olm1.system.restart();
  await rolledBack();
  await isBackAtHealth();
  expect(await attempts()).toEqual(before);

  await operator({ version: '1.0.0', deadline: '5s' });
  await olm1.isHealthyAt(operators, name, '1.0.0');
  expect((await kubectl.get('bundledeployment', name))['status']).not.toHaveProperty('rollback');
  await operator({ version: '>=1.0.0', deadline: '5s' });
  const second = await rolledBack(first.at);
  expect(second.from).toBe(first.from);

  await operator({ version: '>=1.0.0', deadline: '10m' });
  await moved({ ...late, versions: ['1.0.0', '1.1.0', '1.1.1'] });
  await olm1.isHealthyAt(operators, name, '1.1.1');
});
