import { goQuote } from '../../../api/go-quote.ts';
import { requestedContent } from '../../candidates/index.ts';
import { pathTo } from '../../explain/index.ts';
import { type Version, versionText } from '../../versions/index.ts';
import { byRelease, type Candidate, first, label } from '../candidate.ts';
import type { PackageQuestion } from '../package-question.ts';
import type { Surroundings } from '../package-request.ts';
import type { Criterion, Judge } from './judge.ts';

/** Sentences that say what would help a request that nothing meets; the best first. */
export function packageHelp(
  question: PackageQuestion,
  judge: Judge,
  { unavailable }: Surroundings,
): readonly string[] {
  const catalogs = unavailable
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, reason }) => `Repair catalog ${goQuote(name)}, which has no content: ${reason}.`);
  const { candidates, request } = question;
  if (candidates.length === 0) {
    return [`Check the package name ${goQuote(request.packageName)}.`, ...catalogs];
  }
  return [...changesOf(question, judge), ...catalogs];
}

/** Changes of the request by which it gets a bundle: those of one field, or else of several. */
function changesOf(question: PackageQuestion, judge: Judge): readonly string[] {
  const byMissing = Map.groupBy(question.candidates, (each) => judge.missing(each).join(' '));
  const groups = [...byMissing]
    .filter(([missing]) => missing !== '')
    .map(([missing, members]) => ({
      missing: missing.split(' ') as readonly Criterion[],
      best: first(members, releasesFirst),
    }));
  const fewest = Math.min(...groups.map(({ missing }) => missing.length));
  return groups
    .filter(({ missing }) => missing.length === fewest)
    .flatMap(({ missing, best }) => {
      if (best === undefined) return [];
      const changes = missing.map((criterion) => helpers[criterion](question, best, judge));
      return [`${capitalized(changes.join(' and '))}.`];
    });
}

/** A prerelease is suggested if there is nothing else. */
function releasesFirst(a: Candidate, b: Candidate): number {
  return Number(isPrerelease(a)) - Number(isPrerelease(b)) || byRelease(a, b);
}

function isPrerelease({ bundle: { version } }: Candidate): boolean {
  return version === undefined || version.prerelease.length > 0;
}

function channelsWith({ bundle, content }: Pick<Candidate, 'bundle' | 'content'>) {
  return content.channels
    .filter(({ entries }) => entries.some(({ name }) => name === bundle.name))
    .map(({ name }) => name);
}

type Help = (question: PackageQuestion, best: Candidate, judge: Judge) => string;

const helpers: Readonly<Record<Criterion, Help>> = {
  channel: (_, { bundle, content }) => {
    const names = channelsWith({ bundle, content }).map(goQuote);
    if (names.length === 0) return `remove the channel: ${bundle.name} is in none`;
    const others = names.length > 1 ? ` (or ${names.slice(1, 4).join(', ')})` : '';
    return `add channel ${names[0]}${others}, which has ${label({ bundle })}`;
  },
  version: (_, { bundle, content }) => {
    const { version } = bundle;
    if (version === undefined) return `remove the version range: ${bundle.name} has no version`;
    const range = version.prerelease.length > 0 ? versionText(version) : widestRange(version);
    return `allow ${range}: catalog ${goQuote(content.catalog.name)} has ${label({ bundle })}`;
  },
  upgrade: (question, best, judge) => {
    const { request } = question;
    const policy =
      request.profile === 'operator'
        ? 'upgradeConstraintPolicy to Ignore'
        : 'upgradeConstraintPolicy to SelfCertified';
    const forced = `set ${policy} to install ${label(best)} without a path of upgrades`;
    const from = judge.upgrades?.from;
    if (from === undefined || best.bundle.version === undefined) return forced;
    const { packageName, upgrades } = request;
    const { name: bundle, version } = best.bundle;
    // A bundle of another channel comes with the suggestion to add its channel.
    const [added] = question.isInChannels(best) ? [] : channelsWith(best);
    const channels = added === undefined ? request.channels : [...request.channels, added];
    const contents = question.contents.map((content) =>
      requestedContent(content, { channels, upgrades, from }),
    );
    const wanted = { packageName, contents, from, to: versionText(version), bundle, upgrades };
    const path = pathTo(wanted, question.budget.half());
    if (path.kind === 'none' || path.steps.length < 2) return forced;
    const next = path.steps[0];
    return `upgrade to ${next?.version} first: ${label(best)} is ${path.steps.length} upgrades away`;
  },
};

/** `2.x`, or `0.3.x` where minor versions break. */
function widestRange({ major, minor }: Version): string {
  return major > 0n ? `${major}.x` : `0.${minor}.x`;
}

function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
