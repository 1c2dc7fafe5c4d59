import { defaultLimits } from '../../../core/content/index.ts';
import type { BundleFiles } from '../../../core/contracts/bundle-files.ts';
import { errorMessage } from '../../../core/errors.ts';
import { checkObjectCount } from '../../../core/manifests/index.ts';
import { type ManifestFile, readManifestFiles } from '../../../core/sdk.ts';
import {
  convertForUnpacking,
  convertRegistryBundle,
  readRegistryManifests,
} from '../../../provisioners/registry/index.ts';
import { classNameOf } from '../class-of-content.ts';
import { renderBundle } from '../render-bundle.ts';
import { problemOf } from './finding.ts';
import { type LocatedObject, manifestObjects } from './manifest-objects.ts';
import { plainObjectRules } from './object-rules.ts';
import type { Problem } from './problem.ts';
import { type RegistryProblemOptions, registryProblems } from './registry-problems.ts';
import { SourceLines } from './source-lines.ts';

export interface Validation {
  /** Full name of the class. */
  readonly class: string;
  /** Whether core would take it, whatever other tools say. */
  readonly installable: boolean;
  /** How many objects would be applied; 0 where it is not installable. */
  readonly objects: number;
  /** Errors of the class first, then other errors, then warnings; each in the order of files. */
  readonly problems: readonly Problem[];
}

export interface ValidateOptions extends RegistryProblemOptions {
  /** A class's name; told by content if absent. */
  readonly className?: string;
}

interface ClassRules {
  readonly read: (files: BundleFiles) => readonly ManifestFile[];
  readonly problems: (
    files: BundleFiles,
    objects: readonly LocatedObject[],
    options: ValidateOptions,
  ) => readonly Problem[];
  /** How many objects would be applied. @throws TerminalError where it cannot be. */
  readonly count: (files: BundleFiles, options: ValidateOptions) => number;
}

const rulesByClass: ReadonlyMap<string, ClassRules> = new Map<string, ClassRules>([
  [
    'core-rukpak-io-plain',
    {
      read: readManifestFiles,
      problems: plainProblems,
      count: (files) => renderBundle(files, { className: 'plain' }).length,
    },
  ],
  [
    'core-rukpak-io-registry',
    { read: readRegistryManifests, problems: registryProblems, count: countConverted },
  ],
]);

/**
 * Everything that is wrong with a bundle, at once.
 * @throws TerminalError where the class is none that is known here.
 */
export function validateBundle(files: BundleFiles, options: ValidateOptions = {}): Validation {
  const name = classNameOf(files, options.className);
  const rules = rulesByClass.get(name);
  if (rules === undefined) throw new Error(`class ${name} has no rules`);
  const { objects, problems } = manifestObjects(files, rules.read);
  const found = [...problems, ...rules.problems(files, objects, options)];
  return withLastWord(() => rules.count(files, options), { name, found, fix: fixOf(files) });
}

/** The class has the last word: where nothing else was found, what it refuses is an error too. */
function withLastWord(
  count: () => number,
  { name, found: problems, fix }: { name: string; found: readonly Problem[]; fix: string },
): Validation {
  const refused = { class: name, installable: false, objects: 0 };
  if (problems.some(isRefusal)) return { ...refused, problems: inOrder(problems) };
  try {
    const objects = count();
    checkObjectCount(objects, defaultLimits.maxEntries);
    return { class: name, installable: true, objects, problems: inOrder(problems) };
  } catch (error) {
    const message = errorMessage(error);
    const refusal: Problem = { severity: 'error', message, fix };
    return { ...refused, problems: inOrder([refusal, ...problems]) };
  }
}

/** The way out of what is found by no rule: most often a folder that is not where it has to be. */
function fixOf({ directories }: BundleFiles): string {
  const hasManifests = directories.has('manifests');
  return hasManifests ? 'correct the bundle' : 'put its objects into a folder manifests';
}

/** With the config, or in whatever way the bundle's install modes allow. */
function countConverted(files: BundleFiles, { config }: ValidateOptions): number {
  if (config !== undefined) return convertRegistryBundle(files, { config }).length;
  const { objects, forAllNamespaces } = convertForUnpacking(files, { configured: true });
  return forAllNamespaces ? convertRegistryBundle(files).length : objects.length;
}

function plainProblems(files: BundleFiles, objects: readonly LocatedObject[]): readonly Problem[] {
  const lines = new SourceLines(files, { listsCountAsItems: true });
  const findings = plainObjectRules.flatMap((rule) => rule(objects));
  return findings.map((finding) => problemOf(finding, lines));
}

export function isError({ severity }: Problem): boolean {
  return severity === 'error';
}

/** An error of the class, not of another tool. */
function isRefusal({ severity, check }: Problem): boolean {
  return severity === 'error' && check === undefined;
}

function inOrder(problems: readonly Problem[]): readonly Problem[] {
  return problems.toSorted(
    (a, b) => rankOf(a) - rankOf(b) || placeText(a).localeCompare(placeText(b), 'en'),
  );
}

function rankOf(problem: Problem): number {
  if (isRefusal(problem)) return 0;
  return isError(problem) ? 1 : 2;
}

function placeText({ file = '', check = '', line = 0 }: Problem): string {
  return [file, check, line.toString().padStart(9, '0')].join(' ');
}
