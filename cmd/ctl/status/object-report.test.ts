import { expect, test } from 'vitest';
import { Inventory } from '../../../core/apply/index.ts';
import { inProcessJudge } from '../../../test/helpers/in-process-judge.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { judgedBy, objectReports } from './object-report.ts';

const resource = {
  group: 'example.com',
  version: 'v1',
  kind: 'Database',
  plural: 'databases',
  namespaced: true,
};

/** A database with two of three replicas, judged by its deployment's rules. */
async function reported(...rules: readonly { readonly healthy: string }[]): Promise<string[]> {
  const stored = aStoredDeployment();
  const name = stored.metadata.name ?? '';
  const inventory = new Inventory();
  inventory.put(resource, {
    apiVersion: 'example.com/v1',
    kind: 'Database',
    metadata: {
      namespace: 'default',
      name: 'orders',
      labels: {
        'core.rukpak.io/owner-kind': 'BundleDeployment',
        'core.rukpak.io/owner-name': name,
      },
    },
    spec: { replicas: 3 },
    status: { ready: 2 },
  });
  const kind = { group: 'example.com', kind: 'Database' };
  const health = { rules: rules.map((rule) => ({ ...kind, ...rule })) };
  const deployment = { ...stored, spec: { ...stored.spec, health } };
  const entries = inventory.ownedBy(name);
  const { signal } = new AbortController();
  const custom = await judgedBy(inProcessJudge, { deployment, entries, signal });
  return objectReports(entries, custom, 0).map(({ status, message }) => `${status}: ${message}`);
}

test('an object is judged by the rules of its deployment, where it has some for the kind', async () => {
  expect(await reported()).toEqual(['Current: Resource is current']);
  expect(await reported({ healthy: 'self.status.ready == self.spec.replicas' })).toEqual([
    'InProgress: spec.health.rules[0].healthy does not hold',
  ]);
  expect(await reported({ healthy: 'self.status.ready == 2' })).toEqual([
    'Current: Resource is current',
  ]);
});
