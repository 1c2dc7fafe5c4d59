import { fail } from 'node:assert';
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
export async function checkSpoiltArguments(trial: Trial): Promise<void> {
  const sound = await trial.given();
  if (trial.takesAnyContent) {
    for (const { how, files } of spoiltContents(sound.files)) {
      await assertHandled(trial, how, async () => ({ ...sound, files }));
    }
  }
  if (trial.handler === 'bundle') return;
  for (const { how, config } of spoiltConfigs(trial.config)) {
    await assertHandled(trial, how, () => trial.given({ config }));
  }
  if ('polluted' in {}) fail('with __proto__ in its config, it changed all objects of the process');
}

async function assertHandled(
  trial: Trial,
  how: string,
  given: () => Promise<Given>,
): Promise<void> {
  try {
    let result: unknown;
    const thrown = await thrownBy(async () => {
      result = await trial.run(await given());
    });
    if (thrown === undefined) assertWellShaped(trial.handler, result);
    else assertRefusal(thrown.error, 'TerminalError');
  } catch (error) {
    throw prefixed(`${how}, `, error);
  }
}
