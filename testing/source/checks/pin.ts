import type { Source } from '../../../core/sdk.ts';
import { assertEqual } from '../../assert-equal.ts';
import { contentTexts } from '../../content-texts.ts';
import { fetchFixture } from '../fetch-fixture.ts';
import type { FetchedSource } from '../fixtures.ts';

/** Core fetches what it has lost by resolvedSource: that gives the same files, and is pinned already. */
export async function checkPin(source: Source, fixture: FetchedSource): Promise<void> {
  const first = await fetchFixture(source, fixture);
  const again = await fetchFixture(source, { ...fixture, source: first.resolvedSource });
  assertEqual(
    contentTexts(again.files),
    contentTexts(first.files),
    'fetched again by its resolvedSource, it gave other files',
  );
  assertEqual(
    again.resolvedSource,
    first.resolvedSource,
    'fetched again by its resolvedSource, it pinned it otherwise',
  );
}
