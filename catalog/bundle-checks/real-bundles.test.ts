import { describe, expect, test } from 'vitest';
import { realBundles, realBundlesArePresent } from '../../test/helpers/real-bundles.ts';
import { smallBundles } from '../../test/helpers/small-bundles.ts';
import type { TestedBundle } from '../../test/helpers/tested-bundle.ts';
import { optionalChecks } from './checks.ts';
import { isError } from './problem.ts';
import { validateBundle } from './validate-bundle.ts';

/** Bundles in which other tools' checks find errors, and which: all else would be a false alarm. */
const errors: Readonly<Record<string, readonly (readonly [check: string, count: number])[]>> = {
  '3scale-community-operator/0.5.1': [['bundle', 3]],
  'automotive-infra/0.0.3': [['csv', 1]],
  'flux/0.13.4': [['bundle', 6]],
  'gitlab-operator-kubernetes/2.2.3': [['good-practices', 1]],
  'kuadrant-operator/0.4.0': [['bundle', 1]],
  'small-owner/1.0.0': [['bundle', 1]],
  'small-webhooks/1.0.0': [['bundle', 2]],
  'sosivio/1.5.0': [['bundle', 1]],
};

/** Bundles that no cluster takes as they are, and in how many places. */
const refusals: Readonly<Record<string, number>> = {
  '3scale-community-operator/0.5.1': 8,
  'apicurio-registry/0.0.1': 1,
  'aqua/6.5.0': 7,
  'azure-service-operator/0.37.0': 41,
  'cockroachdb/2.1.1': 1,
  'ember-csi-community-operator/0.0.1': 1,
  'group-sync-operator/0.0.11': 1,
  'small-former/1.0.0': 2,
};

function validations(bundles: readonly TestedBundle[]): void {
  test.each(bundles.map(({ name, content }) => [name, content] as const))('%s', (name, content) => {
    const found = validateBundle(content(), { optional: optionalChecks });
    const counts = Map.groupBy(found.problems.filter(isError), ({ check }) => check);
    const ofTools = [...counts].flatMap(([check, each]) =>
      check === undefined ? [] : [[check, each.length] as const],
    );
    expect(Object.fromEntries(ofTools)).toEqual(Object.fromEntries(errors[name] ?? []));
    expect(counts.get(undefined)?.length ?? 0).toBe(refusals[name] ?? 0);
    expect(found.installable).toBe(!(name in refusals));
    for (const { file, line, fix } of found.problems) {
      expect(fix).not.toBe('');
      if (file?.startsWith('manifests/') === true) expect(line).toBeGreaterThan(0);
    }
  });
}

describe('small operators', () => {
  validations(smallBundles);
});

const inTest = { tags: ['slow'] };

describe.runIf(realBundlesArePresent())('operators as they were published', inTest, () => {
  validations(realBundles);
});
