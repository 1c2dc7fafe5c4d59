import { fail } from 'node:assert';
import type { Source } from '../../../core/sdk.ts';
import { assertMessage, assertRefusal } from '../../assert-refusal.ts';
import { thrownBy } from '../../thrown-by.ts';
import { fetchFixture } from '../fetch-fixture.ts';
import type { RefusedSource } from '../fixtures.ts';

/** The source says what is wrong, by the right error and in the fixture's words. */
export async function checkRefusal(source: Source, fixture: RefusedSource): Promise<void> {
  const thrown = await thrownBy(() => fetchFixture(source, fixture));
  if (thrown === undefined) fail('it was fetched');
  assertRefusal(thrown.error, fixture.error);
  assertMessage(thrown.error, fixture.message);
}

/** A spec that names the type, and says nothing more, is nobody's to fetch. */
export async function checkEmptySpec(source: Source): Promise<void> {
  const thrown = await thrownBy(() => fetchFixture(source, { source: { type: source.type } }));
  if (thrown === undefined) fail('it fetched something for a spec that has nothing but a type');
  assertRefusal(thrown.error, 'TerminalError');
}
