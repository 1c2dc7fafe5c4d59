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
    shown === chosen ? undefined : `${title(shown)} is ${judge.whyNot(shown, chosen)}.`;
  return { bundle: shown.bundle, catalog: shown.content.catalog, notTaken };
}

function title(candidate: Candidate): string {
  const { version, name } = candidate.bundle;
  return version === undefined ? `Bundle ${goQuote(name)}` : `Version ${label(candidate)}`;
}
