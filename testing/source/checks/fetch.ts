import { strictEqual } from 'node:assert';
import type { Source } from '../../../core/sdk.ts';
import { assertContent } from '../../assert-content.ts';
import { assertEqual } from '../../assert-equal.ts';
import { bundleFiles } from '../../builders/bundle-files.ts';
import { contentTexts } from '../../content-texts.ts';
import { fetchFixture } from '../fetch-fixture.ts';
import type { FetchedSource } from '../fixtures.ts';

/** The source gives content, and a spec of its own type, as the fixture says where it does. */
export async function checkFetch(source: Source, fixture: FetchedSource): Promise<void> {
  const before = structuredClone(fixture.source);
  const { files, resolvedSource } = await fetchFixture(source, fixture);
  assertContent(files);
  strictEqual(resolvedSource.type, source.type, 'resolvedSource is of another type');
  assertEqual(fixture.source, before, 'it changed the spec that it was given');
  if (fixture.files !== undefined) {
    const expected = contentTexts(bundleFiles(fixture.files));
    assertEqual(contentTexts(files), expected, 'its files are not those of the fixture');
  }
  if (fixture.resolvedSource !== undefined) {
    const sentence = 'its resolvedSource is not that of the fixture';
    assertEqual(resolvedSource, fixture.resolvedSource, sentence);
  }
}
