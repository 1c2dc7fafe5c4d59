import { fail } from 'node:assert';
import { errorMessage } from '../../../core/sdk.ts';
import { assertRefusal } from '../../assert-refusal.ts';
import { prefixed } from '../../prefixed.ts';
import { thrownBy } from '../../thrown-by.ts';
import type { Given } from '../given.ts';
import { spoiltConfigs } from '../spoilt-configs.ts';
import { spoiltContents } from '../spoilt-contents.ts';
import type { Trial } from '../trial.ts';
import { assertWellShaped } from '../well-shaped.ts';

/**
 * Whatever a user writes ends in a result or in a TerminalError that says what is wrong: never in a
 * TypeError, in something that is no Error, or in a result that nobody can use.
 */
export async function checkSpoiltArguments(trial: Trial, options: HandlingOptions): Promise<void> {
  const sound = await trial.given();
  if (trial.takesAnyContent) {
    for (const { how, files } of spoiltContents(sound.files)) {
      await assertHandled({ trial, how, ...options }, async () => ({ ...sound, files }));
    }
  }
  if (trial.handler === 'bundle') return;
  for (const { how, config } of spoiltConfigs(trial.config)) {
    await assertHandled({ trial, how, ...options }, () => trial.given({ config }));
  }
  if ('polluted' in {}) fail('with __proto__ in its config, it changed all objects of the process');
}

interface HandlingOptions {
  /** Whether the fixtures have nothing that the class refuses. */
  readonly refusesNothing: boolean;
}

interface Handling extends HandlingOptions {
  readonly trial: Trial;
  readonly how: string;
}

async function assertHandled(
  { trial, how, refusesNothing }: Handling,
  given: () => Promise<Given>,
): Promise<void> {
  try {
    let result: unknown;
    const thrown = await thrownBy(async () => {
      result = await trial.run(await given());
    });
    if (thrown === undefined) return assertWellShaped(trial.handler, result);
    assertRefusal(thrown.error, 'TerminalError');
    if (refusesNothing) {
      fail(
        `it was refused ("${errorMessage(thrown.error)}"), and the fixtures have nothing that is refused: give a case of it in refused`,
      );
    }
  } catch (error) {
    throw prefixed(`${how}, `, error);
  }
}
