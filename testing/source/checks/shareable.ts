import type { Source } from '../../../core/sdk.ts';
import { assertEqual } from '../../assert-equal.ts';
import { aSourceContext } from '../../builders/source-context.ts';
import { contentTexts } from '../../content-texts.ts';
import { fetchFixture } from '../fetch-fixture.ts';
import type { FetchedSource } from '../fixtures.ts';

/** Where Bundles share a fetch, it gives the same whichever of them it is for. */
export async function checkShareable(source: Source, fixture: FetchedSource): Promise<void> {
  if (!source.shareable) return;
  const { source: spec, secrets = {}, configMaps = {} } = fixture;
  const bundle = { name: 'another', uid: 'uid-of-another' };
  const first = await fetchFixture(source, fixture);
  const other = await source.fetch(spec, aSourceContext({ secrets, configMaps, bundle }));
  const sentence = 'it is shareable, and gave other files for another Bundle';
  assertEqual(contentTexts(other.files), contentTexts(first.files), sentence);
}
