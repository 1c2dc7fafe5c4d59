import { defaultLimits } from '../../../core/content/limits.ts';
import type { BundleFiles } from '../../../core/contracts/bundle-files.ts';
import { errorMessage } from '../../../core/errors.ts';
import { checkObjectCount } from '../../../core/manifests/object-bounds.ts';
import { type ManifestFile, readManifestFiles } from '../../../core/sdk.ts';
import { readRegistryManifests } from '../../../provisioners/registry/read-bundle.ts';
import { classNameOf } from '../class-of-content.ts';
import { renderBundle } from '../render-bundle.ts';
import { type LocatedObject, manifestObjects } from './manifest-objects.ts';
import { plainObjectRules } from './object-rules.ts';
import type { Problem } from './problem.ts';
import { registryProblems } from './registry-problems.ts';

export interface Validation {
  /** Full name of the class. */
  readonly class: string;
  /** How many objects would be applied; 0 where there are errors. */
  readonly objects: number;
  /** Errors first, each group in the order of files. */
  readonly problems: readonly Problem[];
}

interface ClassRules {
  readonly read: (files: BundleFiles) => readonly ManifestFile[];
  readonly problems: (files: BundleFiles, objects: readonly LocatedObject[]) => readonly Problem[];
}

const rulesByClass: ReadonlyMap<string, ClassRules> = new Map([
  [
    'core-rukpak-io-plain',
    {
      read: readManifestFiles,
      problems: (_files, objects) => plainObjectRules.flatMap((rule) => rule(objects)),
    },
  ],
  ['core-rukpak-io-registry', { read: readRegistryManifests, problems: registryProblems }],
]);

/**
 * Everything that is wrong with a bundle, at once.
 * @throws TerminalError where the class is none that is known here.
 */
export function validateBundle(files: BundleFiles, className?: string): Validation {
  const name = classNameOf(files, className);
  const rules = rulesByClass.get(name);
  if (rules === undefined) throw new Error(`class ${name} has no rules`);
  const { objects, problems } = manifestObjects(files, rules.read);
  const found = [...problems, ...rules.problems(files, objects)];
  return withLastWord(files, { class: name, objects: 0, problems: inOrder(found) });
}

/** The class has the last word: where nothing else was found, what it refuses is an error too. */
function withLastWord(files: BundleFiles, found: Validation): Validation {
  if (found.problems.some(isError)) return found;
  try {
    const { length } = renderBundle(files, { className: found.class });
    checkObjectCount(length, defaultLimits.maxEntries);
    return { ...found, objects: length };
  } catch (error) {
    const refusal: Problem = {
      severity: 'error',
      message: errorMessage(error),
      fix: 'correct the bundle',
    };
    return { ...found, problems: inOrder([refusal, ...found.problems]) };
  }
}

export function isError({ severity }: Problem): boolean {
  return severity === 'error';
}

function inOrder(problems: readonly Problem[]): readonly Problem[] {
  return problems.toSorted(
    (a, b) => Number(isError(b)) - Number(isError(a)) || (a.file ?? '').localeCompare(b.file ?? ''),
  );
}
