import { serialize } from 'node:v8';
import { Budget } from '../../../resolver/budget.ts';
import type { PackageRequest, Surroundings } from '../../../resolver/olm1/index.ts';
import type { StoredPlace } from '../catalog-contents.ts';
import { PackageRecords } from '../content/package-records.ts';
import {
  answerFrom,
  limitAnswer,
  type PackageAnswer,
  type PackageOfCatalog,
} from './package-answer.ts';

/** What to resolve, as a plain value. */
export interface ResolutionJob {
  readonly request: PackageRequest;
  readonly present: Surroundings['present'];
  readonly unavailable: Surroundings['unavailable'];
  readonly image: string | undefined;
  readonly places: readonly StoredPlace[];
}

/** Undefined if newer content has replaced that of a place. */
export type JobAnswer = PackageAnswer | undefined;

/** Maximum bytes of an answer, which its receiver decodes on its event loop. */
const maxAnswerBytes = 1024 * 1024;

/** Resolves from the files of catalogs, with all steps of a resolution. */
export async function resolveStored(job: ResolutionJob): Promise<JobAnswer> {
  await using stack = new AsyncDisposableStack();
  const stored: StoredRecords[] = [];
  try {
    for (const { catalog, directory } of job.places) {
      stored.push({ catalog, records: stack.use(await PackageRecords.open(directory)) });
    }
  } catch {
    return undefined;
  }
  const { request, present, unavailable, image } = job;
  const find = (name: string) => findPackage(stored, name);
  const answer = await answerFrom(
    find,
    { request, surroundings: { present, unavailable }, image },
    new Budget(),
  );
  if (serialize(answer).byteLength <= maxAnswerBytes) return answer;
  const what = `has an answer of more than ${maxAnswerBytes} bytes`;
  return { ...limitAnswer(request, what), packages: answer.packages };
}

interface StoredRecords {
  readonly catalog: StoredPlace['catalog'];
  readonly records: PackageRecords;
}

async function findPackage(
  stored: readonly StoredRecords[],
  name: string,
): Promise<readonly PackageOfCatalog[]> {
  const found: PackageOfCatalog[] = [];
  // One after the other: each may need some memory.
  for (const { catalog, records } of stored) {
    const result = await records.findPackage(name, catalog);
    if (result !== undefined) found.push({ catalog, ...result });
  }
  return found;
}
