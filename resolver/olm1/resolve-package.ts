import { goQuote } from '../../api/go-quote.ts';
import { Budget, BudgetError } from '../budget.ts';
import type { Deprecation, PackageContent } from '../candidates/index.ts';
import type { Explanation } from '../explain/index.ts';
import { VersionError } from '../versions/index.ts';
import { byRelease, type Candidate, first, label } from './candidate.ts';
import { chooseForExtension } from './choice/extension-choice.ts';
import { chooseForOperator } from './choice/operator-choice.ts';
import { dependenciesOf } from './dependencies.ts';
import { explainAnswer } from './explanation/answer-explanation.ts';
import { Judge } from './explanation/judge.ts';
import { PackageQuestion } from './package-question.ts';
import type { PackageContents, PackageRequest, Surroundings } from './package-request.ts';
import type {
  FailedPackage,
  NewestBundle,
  PackageResolution,
  ResolvedPackage,
} from './package-resolution.ts';
import { limitFailure, ResolutionFailure } from './resolution-failure.ts';

/**
 * Chooses a bundle for one request, for itself alone: other requests change nothing but what is
 * said of dependencies. Equal for equal input, whatever the order of catalogs.
 */
export function resolvePackage(
  request: PackageRequest,
  contents: PackageContents,
  surroundings: Surroundings,
): PackageResolution {
  const { budget = new Budget() } = surroundings;
  return withinBudget(request, budget, () => {
    const answer = answerOf(request, contents, budget);
    if ('invalid' in answer) return invalidVersion(request, answer.invalid);
    if ('failure' in answer) return failed(answer.question, answer.failure, surroundings);
    return resolved(answer.question, answer.chosen, { contents, surroundings });
  });
}

/** Why the request has its answer: a resolved one too. */
export function explainPackage(
  request: PackageRequest,
  contents: PackageContents,
  surroundings: Surroundings,
): Explanation {
  const { budget = new Budget() } = surroundings;
  const explained = withinBudget(request, budget, () => {
    const answer = answerOf(request, contents, budget);
    if ('invalid' in answer) return invalidVersion(request, answer.invalid);
    const { question } = answer;
    const judge = new Judge(question);
    if ('failure' in answer) {
      const { message, help } = answer.failure;
      return { explanation: explainAnswer(question, judge, { message, help, surroundings }) };
    }
    const { chosen } = answer;
    const message = `resolved to ${goQuote(chosen.bundle.image)}`;
    return { explanation: explainAnswer(question, judge, { message, chosen, surroundings }) };
  });
  return explained.explanation;
}

/** What `work` returns, or a failure that says that it takes too many steps. */
function withinBudget<T>(
  request: PackageRequest,
  budget: Budget,
  work: () => T,
): T | FailedPackage {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof BudgetError)) throw error;
    return limitFailure(request, `takes more than ${budget.limit} steps`);
  }
}

type Answer =
  | { readonly invalid: VersionError }
  | { readonly question: PackageQuestion; readonly failure: ResolutionFailure }
  | { readonly question: PackageQuestion; readonly chosen: Candidate };

function answerOf(request: PackageRequest, contents: PackageContents, budget: Budget): Answer {
  let question: PackageQuestion;
  try {
    question = new PackageQuestion(request, contents, budget);
  } catch (error) {
    if (!(error instanceof VersionError)) throw error;
    return { invalid: error };
  }
  try {
    return { question, chosen: choices[request.profile](question) };
  } catch (error) {
    if (!(error instanceof ResolutionFailure)) throw error;
    return { question, failure: error };
  }
}

const choices: Readonly<
  Record<PackageRequest['profile'], (question: PackageQuestion) => Candidate>
> = { operator: chooseForOperator, extension: chooseForExtension };

interface Place {
  readonly contents: PackageContents;
  readonly surroundings: Surroundings;
}

function resolved(
  question: PackageQuestion,
  chosen: Candidate,
  { contents, surroundings }: Place,
): ResolvedPackage {
  const { bundle, content } = chosen;
  const judge = new Judge(question);
  const owner = { packageName: content.name, ...bundle };
  return {
    kind: 'resolved',
    bundle,
    catalog: content.catalog,
    channels: content.channels
      .filter(({ entries }) => entries.some(({ name }) => name === bundle.name))
      .map(({ name }) => name),
    deprecations: deprecationsOf(question.request, content, bundle.name),
    newest: newestBundle(question, judge, chosen) ?? {
      bundle,
      catalog: content.catalog,
      notTaken: undefined,
    },
    dependencies: dependenciesOf(owner, { contents, surroundings, budget: question.budget }),
  };
}

function failed(
  question: PackageQuestion,
  { reason, message, help }: ResolutionFailure,
  surroundings: Surroundings,
): FailedPackage {
  const judge = new Judge(question);
  return {
    kind: 'failed',
    reason,
    message,
    deprecations: question.contents.flatMap((each) => deprecationsOf(question.request, each)),
    newest: newestBundle(question, judge, undefined),
    explanation: explainAnswer(question, judge, { message, help, surroundings }),
  };
}

/** The highest version of all catalogs, and why it is not the chosen one. */
function newestBundle(
  { candidates }: PackageQuestion,
  judge: Judge,
  chosen: Candidate | undefined,
): NewestBundle | undefined {
  const newest = first(candidates, byRelease);
  if (newest === undefined) return undefined;
  // The same version of another catalog is no news.
  const shown = chosen !== undefined && byRelease(newest, chosen) === 0 ? chosen : newest;
  const notTaken =
    shown === chosen ? undefined : `${title(shown)} is ${judge.whyNot(shown, chosen)}.`;
  return { bundle: shown.bundle, catalog: shown.content.catalog, notTaken };
}

function title(candidate: Candidate): string {
  const { version, name } = candidate.bundle;
  return version === undefined ? `Bundle ${goQuote(name)}` : `Version ${label(candidate)}`;
}

/** Deprecations of the package, of the requested channels, and of one bundle. */
function deprecationsOf(
  { channels }: PackageRequest,
  { deprecations }: PackageContent,
  bundle?: string,
): readonly Deprecation[] {
  return deprecations.filter(({ schema, name }) => {
    if (schema === 'olm.package') return true;
    return schema === 'olm.channel' ? channels.includes(name) : name === bundle;
  });
}

const invalidVersionTexts: Readonly<
  Record<PackageRequest['profile'], (version: string, problem: string) => string>
> = {
  operator: () => 'validation has not been attempted as spec is invalid',
  extension: (version, problem) =>
    `desired version range ${goQuote(version)} is invalid: ${problem}`,
};

function invalidVersion(
  { profile, packageName, version = '' }: PackageRequest,
  { message: problem }: VersionError,
): FailedPackage {
  const message = invalidVersionTexts[profile](version, problem);
  return {
    kind: 'failed',
    reason: 'invalid-version',
    message,
    deprecations: [],
    newest: undefined,
    explanation: {
      asked: `package ${goQuote(packageName)} in version range ${goQuote(version)}`,
      message,
      chain: [`The version range cannot be read: ${problem}.`],
      considered: [],
      suggestions: ['Write a version range such as "1.2.x", "~1.12" or ">=1.11, <1.13".'],
    },
  };
}
