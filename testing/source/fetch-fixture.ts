import type { Source, SourceContext, SourceResult } from '../../core/sdk.ts';
import { aSourceContext } from '../builders/source-context.ts';
import type { FetchedSource } from './fixtures.ts';

/** Fetches what a fixture says, or the source that is given, with the fixture's Secrets and ConfigMaps. */
export async function fetchFixture(
  source: Source,
  fixture: Pick<FetchedSource, 'source' | 'secrets' | 'configMaps'>,
  changes: Partial<Pick<SourceContext, 'signal' | 'limits'>> = {},
): Promise<SourceResult> {
  const { source: spec, secrets = {}, configMaps = {} } = fixture;
  return await source.fetch(spec, aSourceContext({ secrets, configMaps, ...changes }));
}
