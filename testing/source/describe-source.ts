import { fail } from 'node:assert';
import type { Source } from '../../core/sdk.ts';
import { assertContent } from '../assert-content.ts';
import { assertEqual } from '../assert-equal.ts';
import { assertMessage, assertRefusal } from '../assert-refusal.ts';
import { bundleFiles } from '../builders/bundle-files.ts';
import { aSourceContext } from '../builders/source-context.ts';
import { contentTexts } from '../content-texts.ts';
import type { SuiteOptions } from '../suite-options.ts';
import { thrownBy } from '../thrown-by.ts';
import type { FetchedSource, RefusedSource, SourceFixtures } from './fixtures.ts';

/** Declares the tests that every source has to pass: what the contract promises, tried with specs of its own. */
export function describeSource(
  source: Source,
  { fetched, refused }: SourceFixtures,
  { test }: SuiteOptions,
): void {
  const declare = (title: string, run: () => Promise<void>): void => {
    test(`${source.type}: ${title}`, run);
  };
  for (const fixture of fetched) {
    declare(`"${fixture.name}" is fetched`, () => checkFetch(source, fixture));
  }
  for (const fixture of refused) {
    declare(`"${fixture.name}" is refused`, () => checkRefusal(source, fixture));
  }
}

async function checkFetch(source: Source, fixture: FetchedSource): Promise<void> {
  const result = await source.fetch(fixture.source, aSourceContext(fixture));
  assertContent(result.files);
  if (fixture.files !== undefined) {
    const expected = contentTexts(bundleFiles(fixture.files));
    assertEqual(contentTexts(result.files), expected, 'its files are not those of the fixture');
  }
}

async function checkRefusal(source: Source, fixture: RefusedSource): Promise<void> {
  const thrown = await thrownBy(() => source.fetch(fixture.source, aSourceContext(fixture)));
  if (thrown === undefined) fail('it was fetched');
  assertRefusal(thrown.error, fixture.error);
  assertMessage(thrown.error, fixture.message);
}
