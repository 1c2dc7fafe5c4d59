import { InvalidArgumentError, Option } from 'commander';
import { parseBoolean } from './flag-values.ts';

export interface CoreFeatureGates {
  /** Reports the Healthy condition, and keeps old Bundles until it is True. */
  readonly BundleDeploymentHealth: boolean;
}

export interface OperatorFeatureGates {
  /** Upgrades of Operators follow semver; otherwise the `replaces` of the catalog. */
  readonly ForceSemverUpgradeConstraints: boolean;
}

export const coreFeatureGates: CoreFeatureGates = { BundleDeploymentHealth: true };

/** As OpenShift 4.15 sets them. */
export const operatorFeatureGates: OperatorFeatureGates = { ForceSemverUpgradeConstraints: true };

/** Gates of a program, with their defaults. */
type Gates = Partial<CoreFeatureGates & OperatorFeatureGates>;

export function featureGatesOption(
  defaults: Gates,
  meaning = 'Features to turn on or off',
): Option {
  const text = Object.entries(defaults).map(([name, value]) => `${name}=${value}`);
  return new Option(
    '--feature-gates <gates>',
    `${meaning}: <name>=true or <name>=false, separated by commas`,
  )
    .argParser(featureGatesParser(defaults))
    .default(defaults, text.join(','));
}

/** Reads `Name=true,Other=false`. */
export function featureGatesParser<G extends Gates>(defaults: G): (text: string, previous: G) => G {
  return (text, previous) => {
    const gates: Record<string, boolean> = { ...previous };
    for (const pair of text.split(',').filter((part) => part !== '')) {
      const [name = '', ...values] = pair.split('=').map((part) => part.trim());
      if (!Object.hasOwn(defaults, name)) {
        const known = Object.keys(defaults).join(', ');
        throw new InvalidArgumentError(`There is no feature gate "${name}"; known: ${known}.`);
      }
      const value = parseBoolean(values.join('='));
      if (value === undefined)
        throw new InvalidArgumentError(`Give ${name}=true or ${name}=false.`);
      gates[name] = value;
    }
    return { ...defaults, ...gates };
  };
}
