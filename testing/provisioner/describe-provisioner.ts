import { fail } from 'node:assert';
import type { Provisioner } from '../../core/sdk.ts';
import { inTime, thrownBy } from '../calls.ts';
import { assertMessage, assertRefusal, type SuiteOptions } from '../suite.ts';
import { checkAbort, checkLimits, checkUnchangedArguments } from './conduct.ts';
import { checkDefinition } from './definition.ts';
import { checkDeterminism } from './determinism.ts';
import type { ProvisionerFixtures, RefusedContent } from './fixtures.ts';
import { checkNoIo } from './no-io.ts';
import { checkResult, type Expected } from './result.ts';
import { checkSpoiltArguments } from './spoilt.ts';
import { bundleTrial, configureTrial, deploymentTrial, type Trial } from './trial.ts';

/** Options of the suite for classes. */
export interface ProvisionerSuiteOptions extends SuiteOptions {
  /**
   * The module whose default export is the class, as `new URL('./class.ts', import.meta.url)`: the
   * suite loads it again in a separate thread, to find differences.
   */
  readonly module?: URL;
  /**
   * The class is behind a URL: the suite does not check that it opens no connection, and tests the
   * handlers that have fixtures.
   */
  readonly remote?: boolean;
}

/**
 * Declares the tests that every provisioner class must pass: the promises of the contract, tested
 * with the class's own content.
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

/**
 * The first handler that receives bad content or a bad config must refuse it, with the fixture's
 * message.
 */
async function checkRefusal(provisioner: Provisioner, fixture: RefusedContent): Promise<void> {
  const thrown = await thrownBy(() => handle(provisioner, fixture));
  if (thrown === undefined) fail('it was accepted');
  assertRefusal(thrown.error, 'TerminalError');
  assertMessage(thrown.error, fixture.message);
}

async function handle(provisioner: Provisioner, fixture: RefusedContent): Promise<unknown> {
  const trial = lastTrial(provisioner, fixture);
  return await trial.run(await trial.given());
}

/** A trial of the last handler, whose input has passed the others. */
function lastTrial(provisioner: Provisioner, fixture: RefusedContent): Trial {
  if (provisioner.deployment !== undefined) {
    return deploymentTrial(provisioner, 'deployment', fixture);
  }
  if (provisioner.configure !== undefined) return configureTrial(provisioner, fixture);
  return bundleTrial(provisioner, fixture);
}

/**
 * A class over HTTP, reduced to the handlers with fixtures: it has all handlers, because its server
 * declares later which it serves.
 */
function withFixturesOnly(
  provisioner: Provisioner,
  { bundles = [], configured = [], deployments = [] }: ProvisionerFixtures,
): Provisioner {
  const lacking: readonly (keyof Provisioner)[] = [
    ...(bundles.length === 0 ? (['bundle'] as const) : []),
    ...(configured.length === 0 ? (['configure'] as const) : []),
    ...(deployments.length === 0 ? (['inputs', 'deployment'] as const) : []),
  ];
  const none = Object.fromEntries(lacking.map((handler) => [handler, { value: undefined }]));
  // Not a copy, because the facts that it uses are known only after a call.
  return Object.create(provisioner, none) as Provisioner;
}

/** The class, with an OverdueError for each call that does not end in time. */
function withDeadline(provisioner: Provisioner, timeout?: number): Provisioner {
  const { bundle, configure, inputs, deployment } = provisioner;
  const bounded: Partial<Provisioner> = {
    ...(bundle && {
      bundle: (...given) => inTime('bundle', timeout, () => bundle.apply(provisioner, given)),
    }),
    ...(configure && {
      configure: (...given) =>
        inTime('configure', timeout, () => configure.apply(provisioner, given)),
    }),
    ...(inputs && {
      inputs: (...given) => inTime('inputs', timeout, () => inputs.apply(provisioner, given)),
    }),
    ...(deployment && {
      deployment: (...given) =>
        inTime('deployment', timeout, () => deployment.apply(provisioner, given)),
    }),
  };
  const handlers = Object.entries(bounded).map(([name, value]) => [name, { value }] as const);
  // Not a copy, because the facts that a class over HTTP uses are known only after a call.
  return Object.create(provisioner, Object.fromEntries(handlers)) as Provisioner;
}
