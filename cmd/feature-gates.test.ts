import { describe, expect, test } from 'vitest';
import { defaultFeatureGates, parseFeatureGates } from './core-flags.ts';

describe('feature gates', () => {
  test.each([
    ['BundleDeploymentHealth=true', true],
    ['BundleDeploymentHealth=false', false],
    ['BundleDeploymentHealth=True', true],
    [' BundleDeploymentHealth = 0 ,', false],
    ['BundleDeploymentHealth=true,BundleDeploymentHealth=false', false],
    ['', true],
  ])('"%s"', (text, BundleDeploymentHealth) => {
    expect(parseFeatureGates(text, defaultFeatureGates)).toEqual({ BundleDeploymentHealth });
  });

  test('repeated flags add up', () => {
    const off = parseFeatureGates('BundleDeploymentHealth=false', defaultFeatureGates);
    expect(parseFeatureGates('', off)).toEqual({ BundleDeploymentHealth: false });
  });

  test.each(['Nope', 'toString', '__proto__', 'bundledeploymenthealth', ''])(
    'that do not exist are refused, and those that do are named: %s',
    (name) => {
      expect(() => parseFeatureGates(`${name}=true`, defaultFeatureGates)).toThrow(
        `There is no feature gate "${name}"; known: BundleDeploymentHealth.`,
      );
    },
  );

  test.each(['', '=', '=yes', '=true=false'])('an invalid value is refused: "%s"', (value) => {
    const text = `BundleDeploymentHealth${value}`;
    expect(() => parseFeatureGates(text, defaultFeatureGates)).toThrow(
      'Give BundleDeploymentHealth=true or BundleDeploymentHealth=false.',
    );
  });
});
