import { fail } from 'node:assert';
import { meantField } from '../../api/spec-config.ts';
import type { DefinedProvisioner, Provisioner } from '../../core/sdk.ts';
import type { ProvisionerFixtures } from './fixtures.ts';

const classNames = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const longestName = 63;
const facts: readonly string[] = ['cluster', 'seed'];

/** The class is valid for a manager, and each of its handlers has a fixture. */
export async function checkDefinition(
  provisioner: Provisioner,
  fixtures: ProvisionerFixtures,
): Promise<void> {
  const faults = [
    ...faultsOf(provisioner),
    ...lackingFixtures(provisioner, fixtures),
    ...uselessFixtures(provisioner, fixtures),
  ];
  if (faults.length > 0) fail(faults.join('; '));
}

function faultsOf(provisioner: Provisioner): readonly string[] {
  const { className, bundle, deployment } = provisioner;
  const { contractVersion } = provisioner as Partial<DefinedProvisioner>;
  return [
    ...when(
      !classNames.test(className),
      `"${className}" is not a class name: ${classNames.source}`,
    ),
    ...when(
      className.length > longestName,
      `its class name has ${className.length} characters, and may have ${longestName}`,
    ),
    ...when(contractVersion !== 1, 'it is not defined with defineProvisioner'),
    ...misspelt(provisioner),
    ...when((bundle ?? deployment) === undefined, 'it has neither bundle nor deployment'),
    ...faultsOfDeploying(provisioner),
  ];
}

const handlers: readonly string[] = ['bundle', 'configure', 'deployment', 'inputs'];

/** Core refuses such a class, because it would never call the function. */
function misspelt(provisioner: Provisioner): readonly string[] {
  return Object.entries(provisioner).flatMap(([name, value]: [string, unknown]) => {
    if (typeof value !== 'function' || handlers.includes(name)) return [];
    const meant = meantField(name, handlers);
    return when(
      meant !== undefined,
      `it has a function "${name}", which core never calls: did you mean ${meant}?`,
    );
  });
}

function faultsOfDeploying(provisioner: Provisioner): readonly string[] {
  const { bundle, configure, deployment, inputs, uses = [] } = provisioner;
  const deploys = (configure ?? deployment) !== undefined;
  return [
    ...when(
      configure !== undefined && bundle === undefined,
      'its configure is for content that its bundle gave, which it does not have',
    ),
    ...when(
      inputs !== undefined && deployment === undefined,
      'its inputs are for deployment, which it does not have',
    ),
    ...when(
      uses.length > 0 && !deploys,
      'its uses are for configure and deployment, which it does not have',
    ),
    ...uses
      .filter((fact) => !facts.includes(fact))
      .map((fact) => `uses has "${fact}", which is not one of ${facts.join(', ')}`),
  ];
}

function lackingFixtures(
  { bundle, configure, deployment }: Provisioner,
  { bundles = [], configured = [], deployments = [] }: ProvisionerFixtures,
): readonly string[] {
  return [
    ...when(bundle !== undefined && bundles.length === 0, 'the fixtures have no bundle'),
    ...when(
      configure !== undefined && configured.length === 0,
      'the fixtures have no configured content',
    ),
    ...when(
      deployment !== undefined && deployments.length === 0,
      'the fixtures have no deployment',
    ),
  ];
}

/** A fixture without its handler would try nothing. */
function uselessFixtures(
  { bundle, configure, deployment }: Provisioner,
  { bundles = [], configured = [], deployments = [] }: ProvisionerFixtures,
): readonly string[] {
  return [
    ...when(
      bundle === undefined && bundles.length > 0,
      'the fixtures have a bundle, and it has no bundle',
    ),
    ...when(
      configure === undefined && configured.length > 0,
      'the fixtures have configured content, and it has no configure',
    ),
    ...when(
      deployment === undefined && deployments.length > 0,
      'the fixtures have a deployment, and it has no deployment',
    ),
  ];
}

function when(applies: boolean, fault: string): readonly string[] {
  return applies ? [fault] : [];
}
