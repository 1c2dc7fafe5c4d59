import { describe, expect, test } from 'vitest';
import type {
  BundleDeployment,
  BundleDeploymentStatus,
  Revision,
} from '../../../api/v1alpha1/index.ts';
import { nameOf, v1, v2, v3 } from '../../../test/helpers/bundle-deployment-fixture.ts';
import { FakeKubeClient } from '../../../test/helpers/fake-kube-client.ts';
import { refusal } from '../../../test/helpers/json-patched.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { chooseRevision, revisionRows, setTemplate } from './revisions.ts';

const noon = '2026-01-01T12:00:00Z';
const [first, next, last] = [nameOf(v1), nameOf(v2), nameOf(v3)];

function aRevision(
  revision: number,
  template: typeof v1,
  fields: Partial<Revision> = { healthyAt: noon },
): Revision {
  return { revision, bundle: nameOf(template), template, appliedAt: noon, ...fields };
}

/** Its template is the third; the second was never healthy. */
function aDeployment(status: BundleDeploymentStatus = {}): BundleDeployment {
  const history = [aRevision(3, v3), aRevision(2, v2, {}), aRevision(1, v1)];
  return aStoredDeployment({ template: v3, status: { history, ...status } });
}

describe('the revision to go back to is', () => {
  test('the last healthy one before that of the template', () => {
    expect(chooseRevision(aDeployment())).toMatchObject({ bundle: first, template: v1 });
  });

  test('the one that is named, healthy or not', () => {
    expect(chooseRevision(aDeployment(), next).template).toEqual(v2);
  });

  test('what was gone back to already: the rollback is made permanent', () => {
    const rollback = { from: last, to: next, reason: 'x', at: noon };
    expect(chooseRevision(aDeployment({ rollback })).bundle).toBe(next);
  });

  test.each<[string, BundleDeployment, string | undefined, string]>([
    [
      'no such Bundle',
      aDeployment(),
      'demo-x',
      `BundleDeployment "demo" has no revision of Bundle "demo-x": its revisions are ${last} (of the template), ${next} (never healthy), ${first}; --to takes one of them`,
    ],
    [
      'no earlier healthy one',
      aDeployment({ history: [aRevision(3, v3), aRevision(2, v2, {})] }),
      undefined,
      `BundleDeployment "demo" has no earlier revision that was healthy: its revisions are ${last} (of the template), ${next} (never healthy); --to takes one of them`,
    ],
    [
      'no history',
      aDeployment({ history: [] }),
      undefined,
      'BundleDeployment "demo" has no earlier revision that was healthy: it keeps no revisions: set spec.revisionHistoryLimit or spec.rollback to keep those from now on',
    ],
    [
      'one whose template would make another Bundle',
      aDeployment({ history: [{ ...aRevision(1, v1), bundle: 'demo-former' }] }),
      'demo-former',
      'the history of BundleDeployment "demo" has not the template of Bundle "demo-former": the metadata of the Bundle was changed before the history began. Set spec.template to what the Bundle was made from',
    ],
    [
      'the Bundle of the template',
      aDeployment(),
      last,
      `the template of BundleDeployment "demo" is that of Bundle "${last}" already`,
    ],
  ])('none where there is %s', (...[, deployment, to, message]) => {
    expect(() => chooseRevision(deployment, to)).toThrow(message);
  });
});

test('a history is a table', () => {
  const history = [aRevision(3, v3, { appliedBy: 'alice', rolledBackAt: noon }), aRevision(1, v1)];
  expect(revisionRows(aDeployment({ history, activeBundle: first }))).toEqual([
    ['REVISION', 'BUNDLE', 'SOURCE', 'APPLIED', 'BY', 'HEALTHY', 'NOW'],
    ['3', last, 'image example.com/app:v3', noon, 'alice', '-', `rolled back ${noon}`],
    ['1', first, 'image example.com/app:v1', noon, '-', noon, 'active'],
  ]);
  expect(revisionRows(aDeployment({ history: [] }))).toEqual([]);
});

describe('a template that the API server does not take', () => {
  /** The error, where the API server has this deployment when it refuses. */
  async function refused(change: object, code = 422): Promise<string> {
    const deployment = aStoredDeployment({ metadata: { name: 'demo', uid: 'u', generation: 1 } });
    const client = new FakeKubeClient();
    client.put({ ...deployment, metadata: { ...deployment.metadata, ...change } });
    client.faults.patch = [refusal(code, 'the server rejected our request')];
    const { signal } = new AbortController();
    const setting = setTemplate(client, { deployment, template: v1, signal });
    return await setting.then(
      () => 'it took it',
      (error: Error) => error.message,
    );
  }

  test.each([
    ['was changed', { generation: 2 }],
    ['was made again', { uid: 'other' }],
  ])('because the deployment %s is not set, and the error says why', async (_case, change) => {
    expect(await refused(change)).toBe(
      'nothing is changed: another client changed BundleDeployment "demo" meanwhile. See rukpakctl status demo, and run the command again',
    );
  });

  test('for another reason keeps the reason', async () => {
    expect(await refused({})).toBe('the server rejected our request');
    expect(await refused({ generation: 2 }, 403)).toBe('the server rejected our request');
  });
});
