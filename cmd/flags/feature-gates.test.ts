import { describe, expect, test } from 'vitest';
import { coreFeatureGates, featureGatesParser, operatorFeatureGates } from './feature-gates.ts';

const parse = featureGatesParser(coreFeatureGates);

describe('feature gates', () => {
  test.each([
    ['BundleDeploymentHealth=true', true],
    ['BundleDeploymentHealth=false', false],
    ['BundleDeploymentHealth=True', true],
    [' BundleDeploymentHealth = 0 ,', false],
    ['BundleDeploymentHealth=true,BundleDeploymentHealth=false', false],
    ['', true],
  ])('"%s"', (text, BundleDeploymentHealth) => {
    expect(parse(text, coreFeatureGates)).toEqual({ BundleDeploymentHealth });
  });

  test('repeated flags add up', () => {
    const off = parse('BundleDeploymentHealth=false', coreFeatureGates);
    expect(parse('', off)).toEqual({ BundleDeploymentHealth: false });
  });

  test.each(['Nope', 'toString', '__proto__', 'bundledeploymenthealth', ''])(
    'that do not exist are refused, and those that do are named: %s',
    (name) => {
      expect(() => parse(`${name}=true`, coreFeatureGates)).toThrow(
        `There is no feature gate "${name}"; known: BundleDeploymentHealth.`,
      );
    },
  );

  test.each(['', '=', '=yes', '=true=false'])('an invalid value is refused: "%s"', (value) => {
    const text = `BundleDeploymentHealth${value}`;
    expect(() => parse(text, coreFeatureGates)).toThrow(
      'Give BundleDeploymentHealth=true or BundleDeploymentHealth=false.',
    );
  });

  test('a program knows its own alone', () => {
    const all = { ...coreFeatureGates, ...operatorFeatureGates };
    expect(featureGatesParser(all)('ForceSemverUpgradeConstraints=false', all)).toEqual({
      BundleDeploymentHealth: true,
      ForceSemverUpgradeConstraints: false,
    });
    expect(() => parse('ForceSemverUpgradeConstraints=false', coreFeatureGates)).toThrow(
      'There is no feature gate "ForceSemverUpgradeConstraints"; known: BundleDeploymentHealth.',
    );
  });
});
