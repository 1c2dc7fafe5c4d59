import { abortedResults } from '../../aborted-results.ts';
import { assertEqual } from '../../assert-equal.ts';
import { comparable } from '../comparable.ts';
import type { Trial } from '../trial.ts';

/** An aborted handler ends within a second: with an Error, or with its usual result. */
export async function checkAbort(trial: Trial): Promise<void> {
  const { handler } = trial;
  const usual = comparable(handler, await trial.run(await trial.given()));
  const given = await trial.given();
  const results = await abortedResults((signal) =>
    trial.run({ ...given, context: { ...given.context, signal } }),
  );
  for (const { how, value } of results) {
    const sentence = `${how}, it gave something else than it does otherwise`;
    assertEqual(comparable(handler, value), usual, sentence);
  }
}
