import { fail } from 'node:assert';
import { type ContentLimits, defaultLimits, type Source } from '../../../core/sdk.ts';
import { assertRefusal } from '../../assert-refusal.ts';
import { thrownBy } from '../../thrown-by.ts';
import { fetchFixture } from '../fetch-fixture.ts';
import type { FetchedSource } from '../fixtures.ts';

/**
 * Pinned content that just passes a limit is refused, with a TerminalError: it will never be less.
 * What is not pinned may be, so that trying again may help.
 */
export async function checkLimits(source: Source, fixture: FetchedSource): Promise<void> {
  const { files, resolvedSource } = await fetchFixture(source, fixture);
  const sizes = [...files.files.values()].map(({ byteLength }) => byteLength);
  const tooSmall: readonly Partial<ContentLimits>[] = [
    { maxBytes: sizes.reduce((sum, size) => sum + size, 0) - 1 },
    { maxEntries: files.files.size + files.directories.size - 1 },
  ];
  const pinned = { ...fixture, source: resolvedSource };
  for (const limit of tooSmall) {
    const limits = { ...defaultLimits, ...limit };
    const thrown = await thrownBy(() => fetchFixture(source, pinned, { limits }));
    const [[name, value] = []] = Object.entries(limit);
    if (thrown === undefined) fail(`it gave more than context.limits.${name} of ${value} allows`);
    assertRefusal(thrown.error, 'TerminalError');
  }
}
