import { describe, expect, it } from 'vitest';
import {
  aCsv,
  anObject,
  aRegistryBundle,
  aStrategyDeployment,
} from '../../../test/helpers/registry-bundle.ts';
import { deploymentNames } from './deployment-names.ts';
import { uniqueCrds } from './unique-crds.ts';
import { uniqueDeployments } from './unique-deployments.ts';

function withDeployments(...names: readonly string[]) {
  const deployments = names.map((name) => aStrategyDeployment({ name }));
  return aRegistryBundle({ csv: aCsv({ deployments }) });
}

describe('uniqueDeployments', () => {
  it('refuses two of one name', () => {
    expect(uniqueDeployments(withDeployments('a', 'b'))).toBeUndefined();
    expect(uniqueDeployments(withDeployments('a', 'b', 'a'))).toMatch(
      /^cluster service version contains duplicate strategy deployment spec 'a'; give each/,
    );
  });
});

describe('deploymentNames', () => {
  it.each(['a', 'a.b-c', '0'])('takes %s', (name) => {
    expect(deploymentNames(withDeployments(name))).toBeUndefined();
  });

  it.each(['', 'A', 'a_b', '-a', 'a..b', 'a'.repeat(254)])('refuses "%s"', (name) => {
    expect(deploymentNames(withDeployments('a', name))).toContain(
      `invalid cluster service version strategy deployment name '${name}': it must be`,
    );
  });
});

describe('uniqueCrds', () => {
  const crd = anObject('CustomResourceDefinition', { name: 'a.b' });

  it('refuses two of one name, unless they are the same', () => {
    const other = { ...crd, spec: { scope: 'Cluster', big: 1n } };
    expect(uniqueCrds(aRegistryBundle({ crds: [crd, { ...crd }] }))).toBeUndefined();
    expect(uniqueCrds(aRegistryBundle({ crds: [crd, other] }))).toBe(
      "bundle contains duplicate custom resource definition 'a.b'; keep one of them in manifests/",
    );
  });
});
