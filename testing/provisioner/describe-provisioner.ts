import type { Provisioner } from '../../core/sdk.ts';
import type { SuiteOptions } from '../suite-options.ts';
import { checkRefusal } from './checks/refusal.ts';
import { checkResult } from './checks/result.ts';
import type { DeploymentFixture, ProvisionerFixtures } from './fixtures.ts';
import { bundleTrial, deploymentTrial, type Trial } from './trial.ts';

/**
 * Declares the tests that every provisioner class has to pass: what the contract promises, tried
 * with content of the class's own.
 */
export function describeProvisioner(
  provisioner: Provisioner,
  fixtures: ProvisionerFixtures,
  { test }: SuiteOptions,
): void {
  const { className, bundle, deployment, inputs } = provisioner;
  const { bundles = [], deployments = [], refused } = fixtures;
  const declare = (title: string, run: () => Promise<void>): void => {
    test(`${className}: ${title}`, run);
  };
  const declareTrial = (trial: Trial, fixture: Partial<DeploymentFixture>): void => {
    declare(`${trial.title} is handled`, () => checkResult(trial, fixture));
  };
  if (bundle !== undefined) {
    for (const fixture of bundles) declareTrial(bundleTrial(provisioner, fixture), fixture);
  }
  for (const fixture of deployments) {
    if (inputs !== undefined)
      declareTrial(deploymentTrial(provisioner, 'inputs', fixture), fixture);
    if (deployment !== undefined) {
      declareTrial(deploymentTrial(provisioner, 'deployment', fixture), fixture);
    }
  }
  for (const fixture of refused) {
    declare(`"${fixture.name}" is refused`, () => checkRefusal(provisioner, fixture));
  }
}
