import { goQuote } from '../../api/go-quote.ts';
import { TerminalError } from '../../core/errors.ts';
import { UpgradeLimitError, upgradeSteps } from '../../resolver/candidates/index.ts';
import type { Version } from '../../resolver/versions/index.ts';
import type { ChannelEntry } from '../blobs/index.ts';
import { channelHeads } from '../validate/index.ts';

/**
 * The upgrade steps to the head of a channel: for each bundle with a path, the next bundle on a
 * shortest one; undefined for the head itself. Empty for a channel without exactly one head.
 * @param versions of all bundles that clusters may have, including those that the channel lacks
 * @throws TerminalError for a channel that needs too many comparisons
 */
export function stepsToHead(
  entries: ReadonlyMap<string, ChannelEntry>,
  versions: ReadonlyMap<string, Version | undefined>,
): ReadonlyMap<string, string | undefined> {
  const [head, other] = channelHeads(entries);
  if (head === undefined || other !== undefined) return new Map();
  try {
    return upgradeSteps(head, entries.values(), versions);
  } catch (error) {
    if (!(error instanceof UpgradeLimitError)) throw error;
    const problem = `the channel with head ${goQuote(head)} needs ${error.cost}`;
    throw new TerminalError(problem, { cause: error });
  }
}
