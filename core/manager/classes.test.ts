import { expect, test } from 'vitest';
import type { BundleDeployment } from '../../api/v1alpha1/index.ts';
import { ManualClock } from '../../test/helpers/manual-clock.ts';
import { aStoredDeployment, aTemplate } from '../../test/helpers/stored-objects.ts';
import { type OwnPlaces, SharedFetches, UnpackSlots } from '../bundle/index.ts';
import type { Provisioner } from '../contracts/provisioner.ts';
import { FairSemaphore } from '../platform/runtime/index.ts';
import { classesWith, ownWorkers } from './classes.ts';

const both: Provisioner = {
  className: 'both',
  bundle: async (files) => files,
  deployment: async () => [],
};
const contentOnly: Provisioner = { className: 'content', bundle: async (files) => files };
const objectsOnly: Provisioner = { className: 'objects', deployment: async () => [] };

test('a class is found by name, for the kinds that it handles', () => {
  const all = [both, contentOnly, objectsOnly];
  expect([...classesWith(all, 'bundle')]).toEqual([
    ['both', both],
    ['content', contentOnly],
  ]);
  expect([...classesWith(all, 'deployment')]).toEqual([
    ['both', both],
    ['objects', objectsOnly],
  ]);
});

test('two classes of one name are refused, even where they handle different kinds', () => {
  const namesake = { ...objectsOnly, className: 'content' };
  expect(() => classesWith([contentOnly, namesake], 'bundle')).toThrow(
    'two provisioners have the class "content"',
  );
});

function somePlaces(): OwnPlaces {
  const slots = new UnpackSlots({ slots: 1, clock: new ManualClock() });
  return { workers: new FairSemaphore({ places: 1 }), slots, fetches: new SharedFetches() };
}

const places = { adapting: somePlaces(), checking: somePlaces() };
const classes: readonly Provisioner[] = [
  { className: 'plain' },
  { className: 'checking' },
  { className: 'adapting', configure: async (files) => files },
  { className: 'ours', configure: async (files) => files },
];

function aDeployment(className: string, ofBundle: string): BundleDeployment {
  const template = aTemplate('example.com/app:v1');
  const spec = { ...template.spec, provisionerClassName: ofBundle };
  const deployment = aStoredDeployment({ template: { ...template, spec } });
  return { ...deployment, spec: { ...deployment.spec, provisionerClassName: className } };
}

test.each<[string, string, keyof typeof places | undefined]>([
  ['adapting', 'plain', 'adapting'],
  ['checking', 'adapting', 'checking'],
  ['plain', 'adapting', 'adapting'],
  ['plain', 'checking', undefined],
  ['plain', 'ours', undefined],
  ['plain', 'plain', undefined],
])('a deployment of class %s, whose Bundle is of %s, takes those of %s', (own, ofBundle, whose) => {
  const workersOf = ownWorkers({
    deployments: { get: () => aDeployment(own, ofBundle) },
    ownPlaces: new Map(Object.entries(places)),
    bundleClasses: new Map(classes.map((each) => [each.className, each])),
  });
  expect(workersOf('demo')).toBe(whose && places[whose].workers);
});

test('one that is gone takes those of all', () => {
  const deployments = { get: () => undefined };
  const workersOf = ownWorkers({ deployments, ownPlaces: undefined, bundleClasses: new Map() });
  expect(workersOf('demo')).toBeUndefined();
});
