import { fail } from 'node:assert';
import { watchIo } from '../io/watch-io.ts';
import type { Trial } from '../trial.ts';

/**
 * A handler gets all it needs from its arguments: it opens no file, no connection and no process.
 * The first call may load code of the class's own from files.
 */
export async function checkNoIo(trial: Trial): Promise<void> {
  const first = await watchedRun(trial);
  const uses = [...first.filter(({ kind }) => kind !== 'file'), ...(await watchedRun(trial))];
  const [use] = uses;
  if (use === undefined) return;
  fail(
    `it used ${use.what}${use.where}: a handler works on what it is given, and logs by context.logger`,
  );
}

async function watchedRun(trial: Trial): ReturnType<typeof watchIo> {
  const given = await trial.given();
  return await watchIo(() => trial.run(given));
}
