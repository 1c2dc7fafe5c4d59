import { defaultLimits } from '../../core/content/index.ts';
import type { BundleFiles } from '../../core/contracts/bundle-files.ts';
import { errorMessage } from '../../core/errors.ts';
import {
  checkObjectCount,
  distinctObjects,
  type ManifestParser,
  withoutLeftOut,
} from '../../core/manifests/index.ts';
import {
  type KubernetesObject,
  type ManifestFile,
  readManifestFiles,
  readPlainBundle,
} from '../../core/sdk.ts';
import { classNameOf } from '../../provisioners/class-of-content.ts';
import {
  convertForUnpacking,
  convertRegistryBundle,
  type RegistryConfig,
  readRegistryManifests,
} from '../../provisioners/registry/index.ts';
import {
  type BundleContent,
  bundleContent,
  type Check,
  type CheckOptions,
  type LocatedObject,
  manifestObjects,
} from './bundle-content.ts';
import { checks } from './checks.ts';
import { classFindings, inReadVersions, sampleFindings } from './class-findings.ts';
import { objectRules, plainObjectRules, renderedObjectRules } from './objects/object-rules.ts';
import { type Finding, inOrder, isError, isRefusal, type Problem, problemOf } from './problem.ts';
import { SourceLines } from './source-lines.ts';

export interface Validation {
  /** Full name of the class. */
  readonly class: string;
  /** Whether core would install it, whatever other tools report. */
  readonly installable: boolean;
  /** Number of objects that core would apply; 0 if not installable. */
  readonly objects: number;
  /** Errors of the class first, then other errors, then warnings; each in the order of files. */
  readonly problems: readonly Problem[];
}

export interface ValidateOptions extends RegistryProblemOptions {
  /** A class's name; defaults to the one that the content suggests. */
  readonly className?: string;
}

interface RefusalOptions {
  /** Leave out warnings, and checks of other tools (default: false). */
  readonly onlyRefusals?: boolean;
}

interface ReadOptions {
  /** Reads one manifest file (default: that of the class). */
  readonly parse?: ManifestParser;
}

interface ClassRules {
  readonly read: (files: BundleFiles, options: ReadOptions) => readonly ManifestFile[];
  readonly problems: (
    files: BundleFiles,
    objects: readonly LocatedObject[],
    options: ValidateOptions & RefusalOptions,
  ) => readonly Problem[];
  /** Number of objects that core would apply. @throws TerminalError if it cannot apply them. */
  readonly count: (files: BundleFiles, options: ValidateOptions) => number;
}

const rulesByClass: ReadonlyMap<string, ClassRules> = new Map<string, ClassRules>([
  [
    'core-rukpak-io-plain',
    {
      read: readManifestFiles,
      problems: plainProblems,
      count: countPlain,
    },
  ],
  [
    'core-rukpak-io-registry',
    { read: readRegistryManifests, problems: registryProblems, count: countConverted },
  ],
]);

/**
 * All problems of a bundle at once.
 * @throws TerminalError for an unknown class.
 */
export function validateBundle(files: BundleFiles, options: ValidateOptions = {}): Validation {
  const name = classNameOf(files, options.className);
  const rules = rulesOf(name);
  const { objects, problems } = manifestObjects(files, (entry) => rules.read(entry, {}));
  const found = [...problems, ...rules.problems(files, objects, options)];
  return withLastWord(() => rules.count(files, options), { name, found, fix: fixOf(files) });
}

/**
 * The errors for which core or the cluster refuses a bundle that its class converts to so many
 * objects: those of `validateBundle`, in a part of its time.
 * @throws TerminalError for an unknown class.
 */
export function refusalsOf(
  files: BundleFiles,
  { parse, ...options }: ValidateOptions & ReadOptions,
  count: number,
): readonly Problem[] {
  const reading = parse === undefined ? {} : { parse };
  const name = classNameOf(files, options.className);
  const { read, problems } = rulesOf(name);
  const { objects, problems: unread } = manifestObjects(files, (entry) => read(entry, reading));
  const found = [...unread, ...problems(files, objects, { ...options, onlyRefusals: true })];
  const { problems: all } = withLastWord(() => count, { name, found, fix: fixOf(files) });
  return all.filter(isRefusal);
}

function rulesOf(name: string): ClassRules {
  const rules = rulesByClass.get(name);
  if (rules === undefined) throw new Error(`class ${name} has no rules`);
  return rules;
}

/** The class has the last word: if the rules found nothing, its refusal is an error too. */
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

/** Fix for an error that no rule has found: most often a folder in the wrong place. */
function fixOf({ directories }: BundleFiles): string {
  const hasManifests = directories.has('manifests');
  return hasManifests ? 'correct the bundle' : 'put its objects into a folder manifests';
}

function countPlain(files: BundleFiles): number {
  return withoutLeftOut(distinctObjects(readPlainBundle(files))).objects.length;
}

/** Counts with the config, or with any of the bundle's install modes. */
function countConverted(files: BundleFiles, { config }: ValidateOptions): number {
  if (config !== undefined) return convertRegistryBundle(files, { config }).length;
  const { objects, forAllNamespaces } = convertForUnpacking(files, { configured: true });
  return forAllNamespaces ? convertRegistryBundle(files).length : objects.length;
}

function plainProblems(
  files: BundleFiles,
  objects: readonly LocatedObject[],
  { onlyRefusals = false }: RefusalOptions,
): readonly Problem[] {
  const lines = new SourceLines(files, { listsCountAsItems: true });
  const findings = plainObjectRules.flatMap((rule) => rule(objects));
  return problemsOf(findings, lines, onlyRefusals);
}

/** With their places, which are looked up of what is wanted alone. */
function problemsOf(
  findings: readonly Finding[],
  lines: SourceLines,
  onlyErrors: boolean,
): readonly Problem[] {
  return findings
    .filter((finding) => !onlyErrors || isError(finding))
    .map((finding) => problemOf(finding, lines));
}

/** All problems of objects that a class has made, such as those of a chart. */
export function renderedObjectProblems(objects: readonly KubernetesObject[]): readonly Problem[] {
  const located = objects.map((object, document) => ({ file: '', document, object }));
  return renderedObjectRules
    .flatMap((rule) => rule(located))
    .map(({ severity, message, fix }) => ({ severity, message, fix }));
}

interface RegistryProblemOptions extends CheckOptions {
  /** spec.config of the future BundleDeployment; defaults to any that the bundle allows. */
  readonly config?: RegistryConfig;
  /** Names of optional checks to run, too. */
  readonly optional?: readonly string[];
}

/** All findings of the class core-rukpak-io-registry, and of catalog tools. */
function registryProblems(
  files: BundleFiles,
  objects: readonly LocatedObject[],
  options: RegistryProblemOptions & RefusalOptions = {},
): readonly Problem[] {
  const content = bundleContent(files, objects);
  const { optional = [], onlyRefusals = false } = options;
  const wanted = checks.filter(({ name, ...check }) =>
    onlyRefusals ? check.blocking === true : !check.optional || optional.includes(name),
  );
  // Core never applies the CSV itself.
  const applied = inReadVersions(
    objects.filter(({ object }) => object.kind !== 'ClusterServiceVersion'),
  );
  const refused = [
    ...classFindings(content, options.config),
    ...objectRules.flatMap((rule) => rule(applied)),
    ...sampleFindings(content),
  ];
  return [
    ...problemsOf(refused, content.lines, onlyRefusals),
    ...wanted.flatMap((check) => checked(content, check, options)),
  ];
}

function checked(content: BundleContent, check: Check, options: CheckOptions): readonly Problem[] {
  return check.find(content, options).map((finding) => ({
    ...problemOf(finding, content.lines),
    // An error of the API server is not just one of another tool.
    ...(check.blocking === true ? {} : { check: check.name }),
  }));
}
