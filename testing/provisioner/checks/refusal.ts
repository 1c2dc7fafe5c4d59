import { fail } from 'node:assert';
import type { Provisioner } from '../../../core/sdk.ts';
import { assertMessage, assertRefusal } from '../../assert-refusal.ts';
import { thrownBy } from '../../thrown-by.ts';
import type { RefusedContent } from '../fixtures.ts';
import { givenDeployment } from '../given-deployment.ts';
import { bundleTrial, deploymentTrial } from '../trial.ts';

/** The first handler that sees bad content or a bad config says so, in the fixture's words. */
export async function checkRefusal(
  provisioner: Provisioner,
  fixture: RefusedContent,
): Promise<void> {
  const thrown = await thrownBy(() => handle(provisioner, fixture));
  if (thrown === undefined) fail('it was accepted');
  assertRefusal(thrown.error, 'TerminalError');
  assertMessage(thrown.error, fixture.message);
}

async function handle(provisioner: Provisioner, fixture: RefusedContent): Promise<unknown> {
  if (provisioner.deployment === undefined) {
    const trial = bundleTrial(provisioner, fixture);
    return await trial.run(await trial.given());
  }
  const given = await givenDeployment(provisioner, fixture);
  return await deploymentTrial(provisioner, 'deployment', fixture).run(given);
}
