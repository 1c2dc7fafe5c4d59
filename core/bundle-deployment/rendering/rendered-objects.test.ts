import { beforeEach, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { Bundle, BundleDeployment } from '../../../api/v1alpha1/index.ts';
import { OutOfTimeError } from '../../classes/index.ts';
import { TerminalError } from '../../errors.ts';
import { DeploymentMemories } from '../memory.ts';
import { type Rendered, RenderedObjects, type Rendering } from './rendered-objects.ts';

const spec = { provisionerClassName: 'c', source: { type: 'image' } };

function aDeployment(name: string, generation = 1): BundleDeployment {
  return {
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'BundleDeployment',
    metadata: { name, uid: `uid-${name}`, generation },
    spec: { provisionerClassName: 'c', template: { spec } },
  };
}

function aBundle(uid: string): Bundle {
  return { apiVersion: 'core.rukpak.io/v1alpha1', kind: 'Bundle', metadata: { uid }, spec };
}

function rendering(name: string, changed: Partial<Rendering> = {}): Rendering {
  return { deployment: aDeployment(name), bundle: aBundle('1'), factsVersion: '', ...changed };
}

let memories: DeploymentMemories;

beforeEach(() => {
  memories = new DeploymentMemories();
});

const objects: readonly KubernetesObject[] = [
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } },
];

function made(name: string, of = objects, changed: Partial<Rendering> = {}): Rendered {
  const recipe = { ...rendering(name, changed), facts: { inputs: [] } };
  return { recipe, objects: of, leftOut: [] };
}

test.each([
  ['that takes too long, whatever the metadata', new OutOfTimeError('too long'), true],
  ['that is refused, unless the metadata differs', new TerminalError('refused'), false],
])('a rendering %s is not repeated with the same content and values', (_, error, isFound) => {
  const rendered = new RenderedObjects(memories);
  rendered.setFailure(rendering('a'), error);
  expect(rendered.failureOf(rendering('a'))).toBe(error);
  const noted = aDeployment('a');
  const annotations = { 'example.com/touched': 'now' };
  const deployment = { ...noted, metadata: { ...noted.metadata, annotations } };
  expect(rendered.failureOf(rendering('a', { deployment }))).toBe(isFound ? error : undefined);
  for (const changed of [
    { deployment: aDeployment('a', 2) },
    { bundle: aBundle('2') },
    { factsVersion: 'other' },
  ]) {
    expect(rendered.failureOf(rendering('a', changed))).toBeUndefined();
  }
  expect(rendered.failureOf(rendering('b'))).toBeUndefined();
  memories.forget('a');
  expect(rendered.failureOf(rendering('a'))).toBeUndefined();
});

test('remembers what one version of a deployment made of one Bundle', () => {
  const rendered = new RenderedObjects(memories);
  const a = made('a');
  rendered.set(a, 1000);
  expect(rendered.get(rendering('a'))).toBe(a);
  expect(rendered.get(rendering('a', { deployment: aDeployment('a', 2) }))).toBeUndefined();
  expect(rendered.get(rendering('a', { bundle: aBundle('2') }))).toBeUndefined();
  expect(rendered.get(rendering('a', { factsVersion: 'other' }))).toBeUndefined();
  memories.forget('a');
  expect(rendered.get(rendering('a'))).toBeUndefined();
});

test('remembers also what stands in for a Bundle that is refused, and no third one', () => {
  const rendered = new RenderedObjects(memories);
  const of = (uid: string) => rendering('a', { bundle: aBundle(uid) });
  const [first, second, third] = ['1', '2', '3'].map((uid) => made('a', objects, of(uid)));
  for (const each of [first, second]) rendered.set(each!, 1000);
  expect([rendered.get(of('1')), rendered.get(of('2'))]).toEqual([first, second]);
  rendered.get(of('1'));
  rendered.set(third!, 1000);
  expect([rendered.get(of('1')), rendered.get(of('2'))]).toEqual([first, undefined]);
});

test('forgets the longest unused beyond its capacity', () => {
  const rendered = new RenderedObjects(memories, 2500);
  for (const name of ['a', 'b']) rendered.set(made(name), 1000);
  rendered.get(rendering('a'));
  rendered.set(made('c'), 1000);
  expect(rendered.get(rendering('b'))).toBeUndefined();
  expect(rendered.get(rendering('a'))?.objects).toBe(objects);
  rendered.set(made('large'), 2600);
  expect(rendered.get(rendering('large'))).toBeUndefined();
  expect(rendered.get(rendering('c'))?.objects).toBe(objects);
});

test('replacing an entry counts its bytes once', () => {
  const rendered = new RenderedObjects(memories, 2000);
  for (let round = 0; round < 5; round += 1) {
    rendered.set(made('a'), 1000);
  }
  rendered.set(made('b'), 1000);
  expect(rendered.get(rendering('a'))?.objects).toBe(objects);
});

test('what was made of facts that nobody can tell apart is not remembered', () => {
  const rendered = new RenderedObjects(memories);
  const untold = made('a', objects, { factsVersion: undefined });
  rendered.set(untold, 1000);
  expect(rendered.get(untold.recipe)).toBeUndefined();
});

test('much that was made of little counts as much', () => {
  const rendered = new RenderedObjects(memories, 2500);
  const much = [{ ...objects[0], data: { text: 'x'.repeat(3000) } }] as typeof objects;
  rendered.set(made('a', much), 10);
  expect(rendered.get(rendering('a'))).toBeUndefined();
});
