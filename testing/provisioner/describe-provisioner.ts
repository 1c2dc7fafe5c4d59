import type { Provisioner } from '../../core/sdk.ts';
import type { SuiteOptions } from '../suite-options.ts';
import { checkAbort } from './checks/abort.ts';
import { checkDefinition } from './checks/definition.ts';
import { checkDeterminism } from './checks/determinism.ts';
import { checkLimits } from './checks/limits.ts';
import { checkNoIo } from './checks/no-io.ts';
import { checkRefusal } from './checks/refusal.ts';
import { checkResult, type Expected } from './checks/result.ts';
import { checkSpoiltArguments } from './checks/spoilt-arguments.ts';
import { checkUnchangedArguments } from './checks/unchanged-arguments.ts';
import type { ProvisionerFixtures } from './fixtures.ts';
import { bundleTrial, configureTrial, deploymentTrial, type Trial } from './trial.ts';
import { withDeadline } from './with-deadline.ts';
import { withFixturesOnly } from './with-fixtures-only.ts';

/** How the suite for classes declares its tests, and what it tries besides. */
export interface ProvisionerSuiteOptions extends SuiteOptions {
  /**
   * The module whose default export is the class, as `new URL('./class.ts', import.meta.url)`: it is
   * loaded once more, in a thread of its own, to see whether that makes a difference.
   */
  readonly module?: URL;
  /**
   * The class is behind a URL: that it opens no connection is not looked at, and the handlers that are
   * tried are those that there are fixtures for.
   */
  readonly remote?: boolean;
}

/**
 * Declares the tests that every provisioner class has to pass: what the contract promises, tried
 * with content of the class's own.
 */
export function describeProvisioner(
  given: Provisioner,
  fixtures: ProvisionerFixtures,
  { test, module, remote = false }: ProvisionerSuiteOptions,
): void {
  const { refused = [], timeout } = fixtures;
  const tried = remote ? withFixturesOnly(given, fixtures) : given;
  const provisioner = withDeadline(tried, timeout);
  const { className } = provisioner;
  const declare = (title: string, run: () => Promise<void>): void => {
    test(`${className}: ${title}`, run);
  };
  declare('is a class, with something to try it with', () => checkDefinition(tried, fixtures));
  for (const { trial, expected } of trialsOf(provisioner, fixtures)) {
    const { title } = trial;
    declare(`${title} is handled`, () => checkResult(trial, expected));
    declare(`${title} is handled the same whenever and wherever`, () =>
      checkDeterminism(trial, { module, timeout }),
    );
    declare(`${title} is left as it was`, () => checkUnchangedArguments(trial));
    if (!remote) declare(`${title} needs no file, connection or process`, () => checkNoIo(trial));
    declare(`${title} ends when it is aborted`, () => checkAbort(trial));
    if (trial.handler !== 'inputs') {
      declare(`${title} stays within the limits`, () => checkLimits(trial, { remote }));
    }
    declare(`${title} is handled or refused when it is spoilt`, () =>
      checkSpoiltArguments(trial, { refusesNothing: refused.length === 0 }),
    );
  }
  for (const fixture of refused) {
    declare(`"${fixture.name}" is refused`, () => checkRefusal(provisioner, fixture));
  }
}

interface ExpectedTrial {
  readonly trial: Trial;
  readonly expected: Expected;
}

function trialsOf(
  provisioner: Provisioner,
  { bundles = [], configured = [], deployments = [] }: ProvisionerFixtures,
): readonly ExpectedTrial[] {
  const { bundle, configure, inputs, deployment } = provisioner;
  const handlers = [
    ...(inputs === undefined ? [] : ['inputs' as const]),
    ...(deployment === undefined ? [] : ['deployment' as const]),
  ];
  const ofBundles = bundle === undefined ? [] : bundles;
  const ofConfigure = configure === undefined ? [] : configured;
  return [
    ...ofBundles.map((fixture) => ({
      trial: bundleTrial(provisioner, fixture),
      expected: fixture,
    })),
    ...ofConfigure.map((fixture) => ({
      trial: configureTrial(provisioner, fixture),
      expected: fixture,
    })),
    ...deployments.flatMap((fixture) =>
      handlers.map((handler) => ({
        trial: deploymentTrial(provisioner, handler, fixture),
        expected: fixture,
      })),
    ),
  ];
}
