import { fail } from 'node:assert';
import type { Provisioner } from '../../../core/sdk.ts';
import { assertMessage, assertRefusal } from '../../assert-refusal.ts';
import { thrownBy } from '../../thrown-by.ts';
import type { RefusedContent } from '../fixtures.ts';
import { bundleTrial, configureTrial, deploymentTrial, type Trial } from '../trial.ts';

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
  const trial = lastTrial(provisioner, fixture);
  return await trial.run(await trial.given());
}

/** Of the last handler: what it is given has been through the others. */
function lastTrial(provisioner: Provisioner, fixture: RefusedContent): Trial {
  if (provisioner.deployment !== undefined) {
    return deploymentTrial(provisioner, 'deployment', fixture);
  }
  if (provisioner.configure !== undefined) return configureTrial(provisioner, fixture);
  return bundleTrial(provisioner, fixture);
}
