import { describe, expect, test } from 'vitest';
import type { Revision } from '../../../api/v1alpha1/index.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { aBundleOf, v1, v2 } from '../../../test/helpers/bundle-deployment-fixture.ts';
import { aStoredDeployment, aTemplate } from '../../../test/helpers/stored-objects.ts';
import {
  lastHealthy,
  type NewRevision,
  trimmed,
  withActive,
  withHealthy,
  withRevision,
  withRolledBack,
} from './history.ts';

const noon = '2026-01-01T12:00:00Z';
const later = '2026-01-01T13:00:00Z';

function aRevision(bundle: string, fields: Partial<Revision> = {}): NewRevision {
  return { bundle, template: aTemplate(bundle), appliedAt: noon, ...fields };
}

/** Names of Bundles, the first applied first; an exclamation mark marks those that were healthy. */
function historyOf(...bundles: readonly string[]): readonly Revision[] {
  return bundles.reduce<readonly Revision[]>((history, text) => {
    const bundle = text.replace('!', '');
    return withRevision(history, aRevision(bundle, bundle === text ? {} : { healthyAt: noon }));
  }, []);
}

const names = (history: readonly Revision[]) =>
  history.map(({ revision, bundle }) => `${revision} ${bundle}`);

describe('a revision', () => {
  test('is the first of the list, and numbers go up', () => {
    expect(names(historyOf('a', 'b', 'c'))).toEqual(['3 c', '2 b', '1 a']);
  });

  test('of a Bundle that was there before takes its place anew', () => {
    const history = withRevision(historyOf('a!', 'b'), aRevision('a', { appliedAt: later }));
    expect(names(history)).toEqual(['3 a', '2 b']);
    expect(history[0]).toMatchObject({ appliedAt: later });
    expect(history[0]).not.toHaveProperty('healthyAt');
  });

  test('keeps the time at which it was healthy first', () => {
    const once = withHealthy(historyOf('a', 'b'), 'a', noon);
    expect(withHealthy(once, 'a', later)).toEqual(once);
    expect(once.map(({ healthyAt }) => healthyAt)).toEqual([undefined, noon]);
  });

  test('that was given up says when', () => {
    const history = withRolledBack(historyOf('a', 'b'), 'b', later);
    expect(history.map(({ rolledBackAt }) => rolledBackAt)).toEqual([later, undefined]);
  });
});

test.each([
  [['a!', 'b', 'c'], 'c', 'a'],
  [['a!', 'b!', 'c!'], 'c', 'b'],
  [['a!', 'b'], 'a', undefined],
  [['a'], 'b', undefined],
])('of %j the last healthy one but %s is %s', (bundles, except, expected) => {
  expect(lastHealthy(historyOf(...bundles), except)?.bundle).toBe(expected);
});

test.each([
  [
    'the latest and as many as are kept',
    ['a!', 'b!', 'c!', 'd!'],
    { kept: 2, active: 'd' },
    'd c b',
  ],
  ['nothing where none is kept', ['a!', 'b!'], { kept: 0, active: 'b' }, ''],
  ['all where there are fewer', ['a!', 'b!'], { kept: 5, active: 'b' }, 'b a'],
  ['the last healthy one first', ['a!', 'b', 'c', 'd', 'e'], { kept: 2, active: 'a' }, 'e d a'],
  ['the active one too', ['a!', 'b', 'c', 'd'], { kept: 1, active: 'b' }, 'd b a'],
])('a history is bounded: %s', (...[, bundles, limit, expected]) => {
  const history = trimmed(historyOf(...bundles), limit);
  expect(history.map(({ bundle }) => bundle).join(' ')).toBe(expected);
});

test('large templates leave room for fewer revisions, but for what is needed', () => {
  const annotations = { note: 'x'.repeat(100_000) };
  const large = historyOf('a!', 'b', 'c', 'd', 'e').map((entry) => ({
    ...entry,
    template: { ...entry.template, metadata: { annotations } },
  }));
  const names = (active: string) =>
    trimmed(large, { kept: 50, active })
      .map(({ bundle }) => bundle)
      .join(' ');
  expect(names('e')).toBe('e a');
  expect(names('b')).toBe('e b a');
});

test('the template of a Bundle of before there was a history has nothing that core wrote', () => {
  const bundle = aBundleOf(v1, undefined, {
    annotations: {
      note: 'x',
      [annotation.pin]: 'sha256:0',
      [annotation.configured]: 'true',
      [annotation.sourceReader]: '',
      [annotation.adoptedBy]: 'uid',
    },
  });
  const stored = aStoredDeployment({ template: v2 });
  const deployment = { ...stored, spec: { ...stored.spec, revisionHistoryLimit: 2 } };
  const { history } = withActive({ deployment, status: {} }, bundle, 'Installed');
  expect(history?.[0]?.template).toEqual({ ...v1, metadata: { annotations: { note: 'x' } } });
});
