import { InvalidArgumentError } from 'commander';
import { parseBoolean } from './flag-values.ts';

export interface FeatureGates {
  /** Reports the Healthy condition, and lets it decide when old Bundles are deleted. */
  readonly BundleDeploymentHealth: boolean;
}

export const defaultFeatureGates: FeatureGates = { BundleDeploymentHealth: true };

/** Reads `Name=true,Other=false`. */
export function parseFeatureGates(text: string, previous: FeatureGates): FeatureGates {
  const gates: Record<string, boolean> = { ...previous };
  for (const pair of text.split(',').filter((part) => part !== '')) {
    const [name = '', ...values] = pair.split('=').map((part) => part.trim());
    if (!Object.hasOwn(defaultFeatureGates, name)) {
      const known = Object.keys(defaultFeatureGates).join(', ');
      throw new InvalidArgumentError(`There is no feature gate "${name}"; known: ${known}.`);
    }
    const value = parseBoolean(values.join('='));
    if (value === undefined) throw new InvalidArgumentError(`Give ${name}=true or ${name}=false.`);
    gates[name] = value;
  }
  return { ...defaultFeatureGates, ...gates };
}
