import { InvalidArgumentError } from 'commander';

export interface FeatureGates {
  /** Reports the Healthy condition, and lets it decide when old Bundles are deleted. */
  readonly BundleDeploymentHealth: boolean;
}

export const defaultFeatureGates: FeatureGates = { BundleDeploymentHealth: true };

/** Reads `Name=true,Other=false`. */
export function parseFeatureGates(text: string, previous: FeatureGates): FeatureGates {
  const gates: Record<string, boolean> = { ...previous };
  for (const pair of text.split(',').filter((part) => part !== '')) {
    const [name = '', value] = pair.split('=');
    if (!(name in defaultFeatureGates)) {
      const known = Object.keys(defaultFeatureGates).join(', ');
      throw new InvalidArgumentError(`There is no feature gate ${name}; known: ${known}.`);
    }
    if (value !== 'true' && value !== 'false') {
      throw new InvalidArgumentError(`Give ${name}=true or ${name}=false.`);
    }
    gates[name] = value === 'true';
  }
  return { ...defaultFeatureGates, ...gates };
}
