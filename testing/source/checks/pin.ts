import { fail } from 'node:assert';
import type { BundleSource, Source } from '../../../core/sdk.ts';
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
  checkNames(source, fixture.source, first.resolvedSource);
}

/** Core keeps the pin alone, and makes the source of it and the spec again. */
function checkNames({ pin }: Source, spec: BundleSource, resolved: BundleSource): void {
  if (pin === 'immutable') return;
  const text = pin.of(resolved);
  if (text === undefined) fail('pin.of names no content of its resolvedSource');
  assertEqual(pin.at(spec, text), resolved, 'pin.at makes another source than its resolvedSource');
  assertEqual(
    pin.place(resolved) ?? '',
    pin.place(spec),
    'pin.place names another place for its resolvedSource',
  );
}
