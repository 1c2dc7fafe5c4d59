import { z } from 'zod';
import type { HealthRule } from '../../../api/v1alpha1/deployment-policies.ts';
import type { BundleFiles } from '../../contracts/bundle-files.ts';
import type { JudgedObject, Verdict } from '../../contracts/object-judge.ts';

/** What a judge's module exports. */
export type JudgeFunction = (
  rules: readonly HealthRule[],
  objects: Iterable<JudgedObject>,
) => readonly Verdict[];

const verdict = z.object({
  status: z.enum(['Current', 'InProgress', 'Failed']),
  message: z.string().max(8_192),
});

/** Content goes in pieces, whatever its size. The name of each has the index of its rule. */
export function filesOf(objects: readonly JudgedObject[]): BundleFiles {
  const files = objects.map(({ rule, json }, at) => [`${at}.${rule}`, Buffer.from(json)] as const);
  return { files: new Map(files), directories: new Set() };
}

/** Of what `filesOf` made, in the worker process. */
export function* judgedObjects({ files }: BundleFiles): Generator<JudgedObject> {
  for (const [name, content] of files) {
    yield { rule: Number(name.split('.')[1]), json: textOf(content) };
  }
}

export function verdictFiles(verdicts: readonly Verdict[]): BundleFiles {
  const files = verdicts.map((each, at) => [`${at}`, Buffer.from(JSON.stringify(each))] as const);
  return { files: new Map(files), directories: new Set() };
}

/** @throws Error where they are not what `verdictFiles` made. */
export function verdictsOf(files: BundleFiles | undefined): readonly Verdict[] {
  return Array.from(files?.files.values() ?? [], (content) =>
    verdict.parse(JSON.parse(textOf(content))),
  );
}

function textOf(content: Uint8Array): string {
  return Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('utf8');
}
