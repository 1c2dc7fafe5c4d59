import { assertEqual } from '../../assert-equal.ts';
import { comparable } from '../comparable.ts';
import { runFreshCopy } from '../fresh-copy.ts';
import { inAnotherWorld } from '../in-another-world.ts';
import { reordered } from '../reordered.ts';
import type { Trial } from '../trial.ts';

interface FreshCopyOptions {
  /** The class's own; no fresh copy is tried where absent. */
  readonly module: URL | undefined;
  readonly timeout: number | undefined;
}

/**
 * The same arguments give the same result: at another time and place, whatever the order of an
 * object's keys, and in a process that has just loaded the class.
 */
export async function checkDeterminism(
  trial: Trial,
  { module, timeout }: FreshCopyOptions,
): Promise<void> {
  const first = comparable(trial.handler, await trial.run(await trial.given()));
  const again = await trial.run(await trial.given());
  assertEqual(
    comparable(trial.handler, again),
    first,
    'called again with the same, it gave something else: a result is to depend on nothing but what the handler is given',
  );
  const given = await trial.given();
  const elsewhere = await inAnotherWorld(() => trial.run(given));
  assertEqual(
    comparable(trial.handler, elsewhere),
    first,
    'a year later, in another time zone and with other random numbers, it gave something else: context.seed is for what must be random',
  );
  const shuffled = { ...given, object: reordered(given.object) };
  assertEqual(
    comparable(trial.handler, await trial.run(shuffled)),
    first,
    'with the keys of the object in another order it gave something else: sort what you write out',
  );
  if (module === undefined) return;
  assertEqual(
    comparable(trial.handler, await runFreshCopy(trial, { module, timeout })),
    first,
    'a copy of the class that was just loaded gave something else: nothing is to be remembered between calls, or made when the module is loaded',
  );
}
