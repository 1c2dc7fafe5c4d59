import type { Source } from '../../../core/sdk.ts';
import { abortedResults } from '../../aborted-results.ts';
import { assertEqual } from '../../assert-equal.ts';
import { contentTexts } from '../../content-texts.ts';
import { fetchFixture } from '../fetch-fixture.ts';
import type { FetchedSource } from '../fixtures.ts';

/** An aborted fetch ends within a second: with an Error, or with all of the content. */
export async function checkAbort(source: Source, fixture: FetchedSource): Promise<void> {
  const usual = contentTexts((await fetchFixture(source, fixture)).files);
  const results = await abortedResults((signal) => fetchFixture(source, fixture, { signal }));
  for (const { how, value } of results) {
    assertEqual(contentTexts(value.files), usual, `${how}, it gave other files than otherwise`);
  }
}
