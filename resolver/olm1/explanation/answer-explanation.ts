import { goQuote } from '../../../api/go-quote.ts';
import {
  type ConsideredBundle,
  consideredGroups,
  type Explanation,
  type RuledOut,
} from '../../explain/index.ts';
import { versionText } from '../../versions/index.ts';
import { byRelease, type Candidate } from '../candidate.ts';
import type { PackageQuestion } from '../package-question.ts';
import type { PackageRequest, Surroundings } from '../package-request.ts';
import type { Criterion, Judge } from './judge.ts';
import { packageHelp } from './package-help.ts';

/** What is explained: the message, and the chosen bundle or else what would help besides. */
export interface Answer {
  readonly message: string;
  readonly chosen?: Candidate;
  readonly help?: readonly string[];
}

interface Judged {
  readonly candidate: Candidate;
  readonly missing: readonly Criterion[];
}

/** Why the request has its answer. */
export function explainAnswer(
  question: PackageQuestion,
  judge: Judge,
  answer: Answer & { readonly surroundings: Surroundings },
): Explanation {
  const { chosen, message, help = [], surroundings } = answer;
  question.budget.takeSort(question.candidates.length);
  const judged = question.candidates
    .map((candidate) => ({ candidate, missing: judge.missing(candidate) }))
    .filter(({ candidate }) => candidate !== chosen)
    .sort((a, b) => a.missing.length - b.missing.length || byRelease(a.candidate, b.candidate));
  const suggestions =
    chosen === undefined ? [...help, ...packageHelp(question, judge, surroundings)] : [];
  return {
    asked: askedText(question.request, judge),
    message,
    chain: chainOf(question, judge, judged),
    considered: consideredGroups(judged.map((each) => ruledOut(each, judge, chosen))),
    suggestions,
  };
}

function askedText(
  { packageName, version, channels }: PackageRequest,
  { upgrades }: Judge,
): string {
  const range = version === undefined ? '' : ` in version range ${goQuote(version)}`;
  const names = channels.map(goQuote).join(', ');
  const channel = channels.length === 1 ? ` in channel ${names}` : ` in channels ${names}`;
  const from = upgrades === undefined ? '' : `, as an upgrade from ${goQuote(upgrades.from.name)}`;
  return `package ${goQuote(packageName)}${range}${channels.length === 0 ? '' : channel}${from}`;
}

/** How many bundles are left after each condition. */
function chainOf(
  { request, contents, candidates }: PackageQuestion,
  { upgrades }: Judge,
  judged: readonly Judged[],
): readonly string[] {
  const name = goQuote(request.packageName);
  const owners = contents.filter(({ bundles }) => bundles.length > 0);
  if (owners.length === 0) return [`No available catalog has package ${name}.`];
  const catalogs = owners.map(({ catalog }) => goQuote(catalog.name)).join(', ');
  const chain = [`Package ${name} has ${bundles(candidates.length)} in ${catalogs}.`];
  const isOut = new Set<Criterion>();
  const left = (criterion: Criterion): string => {
    isOut.add(criterion);
    const out = judged.filter(({ missing }) => missing.some((each) => isOut.has(each))).length;
    return bundles(candidates.length - out);
  };
  if (request.channels.length > 0) chain.push(`The requested channels leave ${left('channel')}.`);
  if (request.version !== undefined) {
    chain.push(`The version range leaves ${left('version')}.`);
  }
  if (upgrades !== undefined) {
    const { version, name: installed } = upgrades.from;
    const from = version === undefined ? goQuote(installed) : versionText(version);
    chain.push(`Upgrades from the installed ${from} leave ${left('upgrade')}.`);
  }
  return chain;
}

function bundles(count: number): string {
  return count === 1 ? '1 bundle' : `${count} bundles`;
}

function ruledOut({ candidate }: Judged, judge: Judge, chosen: Candidate | undefined): RuledOut {
  return { bundle: shown(candidate), reason: judge.whyNot(candidate, chosen) };
}

function shown({ bundle, content }: Candidate): ConsideredBundle {
  const version = bundle.version === undefined ? '' : versionText(bundle.version);
  return { name: bundle.name, version, catalog: content.catalog.name };
}
