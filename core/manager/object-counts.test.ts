import { expect, test } from 'vitest';
import type { Bundle, BundleDeployment } from '../../api/v1alpha1/index.ts';
import { defineProvisioner } from '../sdk.ts';
import { createObjectCounts } from './object-counts.ts';

const acme = defineProvisioner({
  className: 'acme',
  bundle: async (files) => files,
  deployment: async () => [],
});

interface Given {
  readonly className?: string;
  readonly phase?: string;
  readonly conditions?: readonly (readonly [type: string, status: string, reason: string])[];
}

function statusOf({ phase, conditions = [] }: Given): object {
  return {
    phase,
    conditions: conditions.map(([type, status, reason]) => ({ type, status, reason })),
  };
}

function objectsOf(given: readonly Given[]): object[] {
  return given.map((each, index) => ({
    metadata: { name: `object-${index}` },
    spec: { provisionerClassName: each.className ?? 'acme' },
    status: statusOf(each),
  }));
}

function countsOf(given: { bundles?: readonly Given[]; deployments?: readonly Given[] }) {
  const bundles = objectsOf(given.bundles ?? []) as Bundle[];
  const deployments = objectsOf(given.deployments ?? []) as BundleDeployment[];
  const kinds = { bundles: { list: () => bundles }, deployments: { list: () => deployments } };
  return createObjectCounts(kinds, [acme]);
}

test('Bundles by phase, those without one included', () => {
  const bundles = [{ phase: 'Unpacked' }, { phase: 'Unpacked' }, { phase: 'Failing' }, {}];
  const counts = countsOf({ bundles }).bundles();
  expect(counts.map(({ labels, count }) => `${labels['phase']} ${count}`)).toEqual([
    'Pending 0',
    'Unpacking 0',
    'Unpacked 2',
    'Failing 1',
    'None 1',
  ]);
});

test('deployments by condition; only types and reasons that we know', () => {
  const deployments: Given[] = [
    { conditions: [['Installed', 'True', 'InstallationSucceeded']] },
    { conditions: [['Installed', 'True', 'InstallationSucceeded']] },
    {
      conditions: [
        ['Installed', 'False', 'SomebodysOwn'],
        ['Special', 'True', 'Special'],
      ],
    },
  ];
  expect(countsOf({ deployments }).conditions()).toEqual([
    { labels: { type: 'Installed', status: 'True', reason: 'InstallationSucceeded' }, count: 2 },
    { labels: { type: 'Installed', status: 'False', reason: 'Other' }, count: 1 },
  ]);
});

test('objects of a class that nobody runs; of a great many classes only some by name', () => {
  const silent = Array.from({ length: 30 }, (_, index) => ({ className: `class-${index}` }));
  const counts = countsOf({
    bundles: [...silent, { className: 'acme' }],
    deployments: [
      { className: 'elsewhere', conditions: [['Installed', 'True', 'InstallationSucceeded']] },
      { className: 'lost', conditions: [['Ready', 'Unknown', 'ClassNotServed']] },
    ],
  }).unserved();
  expect(counts).toHaveLength(22);
  expect(counts).toContainEqual({ labels: { kind: 'Bundle', class: 'class-0' }, count: 1 });
  expect(counts).toContainEqual({ labels: { kind: 'Bundle', class: 'other' }, count: 10 });
  expect(counts.at(-1)).toEqual({ labels: { kind: 'BundleDeployment', class: 'lost' }, count: 1 });
});
