import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { FakeKubeClient } from '../../../test/helpers/fake-kube-client.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import type { Forecast, ForecastChange } from '../../contracts/applier.ts';
import { fullPlan, planStatus } from './full-plan.ts';
import { parsePlan, planJson, planSecret, planSecretName, StoredPlans } from './stored-plans.ts';

const subject = {
  deployment: 'demo',
  bundle: { name: 'demo-1', uid: 'u1' },
  createdAt: '2026-01-01T00:00:00Z',
};

function aForecast(changes: readonly ForecastChange[], more: Partial<Forecast> = {}): Forecast {
  return { digest: 'd', changes, unchanged: 1, problems: [], warnings: [], ...more };
}

/** A change whose values do not compress. */
function aChange(name: string): ForecastChange {
  const fields = Array.from({ length: 100 }, (_, n) => ({
    path: `data.k${n}`,
    before: randomBytes(75).toString('hex'),
    after: randomBytes(75).toString('hex'),
  }));
  return { action: 'Change', group: '', kind: 'ConfigMap', namespace: 'a', name, fields };
}

async function reread(secret: KubernetesObject): Promise<ReturnType<typeof parsePlan>> {
  const json = await planJson(secret);
  if (json === undefined) throw new Error('there is no plan in it');
  return parsePlan(json.toString());
}

test('a plan comes back as it was stored, in a Secret that goes with the deployment', async () => {
  const because = 'it has annotation core.rukpak.io/keep';
  const orphan = { action: 'Orphan', group: '', kind: 'Secret', name: 'b', because } as const;
  const changes = [aChange('a'), orphan];
  const plan = fullPlan(aForecast(changes, { warnings: ['w'] }), subject);
  const secret = await planSecret(aStoredDeployment(), plan, 'system');
  expect(secret).toMatchObject({
    kind: 'Secret',
    metadata: {
      name: 'rukpak-plan-demo',
      namespace: 'system',
      ownerReferences: [{ kind: 'BundleDeployment', name: 'demo', uid: 'uid-of-demo' }],
    },
  });
  // With an owner's labels it would count as content, and core would prune it.
  expect(secret.metadata).not.toHaveProperty('labels');
  expect(await reread(secret)).toEqual(plan);
});

test.each([
  ['a plan', 'core.rukpak.io/plan', undefined],
  ['of somebody else', 'Opaque', 'rukpak-plan-demo'],
])('of the Secrets of that name, one that is %s is deleted or kept', async (_, type, left) => {
  const client = new FakeKubeClient();
  const metadata = { name: 'rukpak-plan-demo', namespace: 'system' };
  client.put({ apiVersion: 'v1', kind: 'Secret', metadata, type });
  const plans = new StoredPlans({ client, systemNamespace: 'system' });
  const { signal } = new AbortController();
  await plans.remove('demo', signal);
  expect(client.peek(metadata)?.metadata.name).toBe(left);
  await plans.remove('other', signal);
});

test('a plan that is too large keeps its first changes, and says so', async () => {
  const changes = Array.from({ length: 100 }, (_, n) => aChange(`c${n}`));
  const plan = fullPlan(aForecast(changes), subject);
  const secret = await planSecret(aStoredDeployment(), plan, 'system');
  expect(JSON.stringify(secret).length).toBeLessThan(900 * 1024);
  const kept = await reread(secret);
  expect(kept).toMatchObject({ change: 100, truncated: true, digest: plan.digest });
  expect(kept.changes.length).toBeGreaterThan(10);
  expect(kept.changes).toEqual(plan.changes.slice(0, kept.changes.length));
});

test('refusals without end are cut', async () => {
  const problems = Array.from({ length: 1000 }, () => randomBytes(10_000).toString('hex'));
  const plan = fullPlan(aForecast([], { problems, warnings: problems }), subject);
  expect(plan.problems.at(-1)).toBe('and 950 more');
  const secret = await planSecret(aStoredDeployment(), plan, 'system');
  expect(JSON.stringify(secret).length).toBeLessThan(900 * 1024);
  const status = planStatus(plan);
  expect(status.problems?.at(-1)).toBe('and 41 more');
  expect(JSON.stringify(status).length).toBeLessThan(10_000);
});

test('the status has the first changes and their first fields, without values', () => {
  const changes = Array.from({ length: 100 }, (_, n) => aChange(`c${n}`));
  const status = planStatus(fullPlan(aForecast(changes), subject));
  expect(status).toMatchObject({ change: 100, truncated: true });
  expect(status.changes).toHaveLength(30);
  expect(status.changes[0]).toEqual({
    action: 'Change',
    group: '',
    kind: 'ConfigMap',
    namespace: 'a',
    name: 'c0',
    fields: Array.from({ length: 8 }, (_, n) => `data.k${n}`),
  });
  const one = fullPlan(aForecast([{ ...aChange('a'), fields: [{ path: 'data' }] }]), subject);
  expect(planStatus(one)).not.toHaveProperty('truncated');
});

test('the digest is another one for another Bundle and for another forecast', () => {
  const { digest } = fullPlan(aForecast([]), subject);
  const other = { ...subject, bundle: { name: 'demo-1', uid: 'u2' } };
  expect(fullPlan(aForecast([]), other).digest).not.toBe(digest);
  expect(fullPlan(aForecast([], { digest: 'e' }), subject).digest).not.toBe(digest);
  const later = { ...subject, createdAt: '2027-01-01T00:00:00Z' };
  expect(fullPlan(aForecast([]), later).digest).toBe(digest);
});

test('of a deployment with a long name too there is a Secret, of its own', () => {
  const names = ['a', 'b'].map((last) => planSecretName(`${'x'.repeat(252)}${last}`));
  expect(new Set(names).size).toBe(2);
  for (const name of names) expect(name).toMatch(/^rukpak-plan-[0-9a-f]{64}$/);
  expect(planSecretName('x'.repeat(241))).toBe(`rukpak-plan-${'x'.repeat(241)}`);
});

test('a status has room for what no server would take', () => {
  const long = 'x'.repeat(100_000);
  const change = {
    action: 'Create',
    group: long,
    kind: long,
    namespace: long,
    name: long,
  } as const;
  const status = planStatus(fullPlan(aForecast([change]), subject));
  expect(JSON.stringify(status).length).toBeLessThan(2_000);
});
