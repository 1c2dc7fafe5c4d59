import { assertEqual } from '../../assert-equal.ts';
import { comparable } from '../comparable.ts';
import type { Given } from '../given.ts';
import type { Trial } from '../trial.ts';

/** What a handler is given is others' too: content, object and context are as they were. */
export async function checkUnchangedArguments(trial: Trial): Promise<void> {
  const given = await trial.given();
  const before = structuredClone(factsOf(given));
  await trial.run(given);
  assertEqual(
    factsOf(given),
    before,
    'it changed what it was given: make copies of what is to be changed',
  );
}

function factsOf({ files, object, context }: Given): object {
  const { inputs, cluster, seed, limits } = context;
  const bytes = [...inputs, seed].map((value) => (value === undefined ? null : [...value]));
  return { content: comparable('bundle', files), object, bytes, cluster, limits };
}
