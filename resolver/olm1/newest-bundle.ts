import { goQuote } from '../../api/go-quote.ts';
import { byRelease, type Candidate, first, label } from './candidate.ts';
import type { Judge } from './judge.ts';
import type { PackageQuestion } from './package-question.ts';
import type { NewestBundle } from './package-resolution.ts';

/** The highest version of all catalogs, and why it is not the chosen one. */
export function newestBundle(
  { candidates }: PackageQuestion,
  judge: Judge,
  chosen: Candidate | undefined,
): NewestBundle | undefined {
  const newest = first(candidates, byRelease);
  if (newest === undefined) return undefined;
  // The same version of another catalog is no news.
  const shown = chosen !== undefined && byRelease(newest, chosen) === 0 ? chosen : newest;
  const notTaken =
    shown === chosen ? undefined : `${title(shown)} is ${why(shown, judge, chosen)}.`;
  return { bundle: shown.bundle, catalog: shown.content.catalog, notTaken };
}

function title(candidate: Candidate): string {
  const { version, name } = candidate.bundle;
  return version === undefined ? `Bundle ${goQuote(name)}` : `Version ${label(candidate)}`;
}

function why(newest: Candidate, judge: Judge, chosen: Candidate | undefined): string {
  const reasons = judge.reasons(newest);
  return reasons === '' ? passedOver(newest, chosen) : reasons;
}

/** What is against a candidate that meets all conditions, after "is". */
export function passedOver(candidate: Candidate, chosen: Candidate | undefined): string {
  const { catalog } = candidate.content;
  if (chosen === undefined) return `in catalog ${goQuote(catalog.name)}`;
  if (candidate.isDeprecated && !chosen.isDeprecated) return 'deprecated';
  const other = chosen.content.catalog;
  if (catalog.priority < other.priority) {
    return `in catalog ${goQuote(catalog.name)}, and catalog ${goQuote(other.name)} has a higher priority`;
  }
  return byRelease(candidate, chosen) > 0
    ? `lower than ${label(chosen)}`
    : `the same version as in catalog ${goQuote(other.name)}`;
}
