import { TerminalError } from '../../../core/controller.ts';
import {
  type PackageContent,
  requestedContent,
  type UpgradeStart,
} from '../../../resolver/candidates/index.ts';
import {
  type Explanation,
  type PathRequest,
  pathTo,
  type UpgradePath,
} from '../../../resolver/explain/index.ts';
import { explainPackage } from '../../../resolver/olm1/index.ts';
import {
  compareVersions,
  parseTolerantVersion,
  readVersion,
  versionProblem,
  versionText,
} from '../../../resolver/versions/index.ts';
import type { CatalogContents } from '../../catalogs/index.ts';
import { type Choice, chooseInline, requestOf, type Subject } from '../../extensions/index.ts';

/** The catalogs to select from. */
export type Contents = Pick<CatalogContents, 'serving' | 'absent' | 'findPackage'>;

export interface SelectedBundle {
  readonly name: string;
  /** Empty if the catalog names no valid version. */
  readonly version: string;
  readonly catalog: string;
}

/** Why an extension gets the bundle that it gets, or none. */
export interface ExtensionExplanation {
  /** Undefined if nothing meets the request. */
  readonly selected: SelectedBundle | undefined;
  /** What the selected bundle requires of others. */
  readonly requires: readonly ExtensionRequirement[];
  readonly explanation: Explanation;
}

export interface ExtensionRequirement {
  /** `package "d" in version range ">=1.0.0"`. */
  readonly text: string;
  /** The object whose bundle meets it: `Operator "d"`; undefined for none. */
  readonly metBy: string | undefined;
}

/** As the controller selects a bundle, from the same contents. */
export async function explainExtension(
  subject: Subject,
  contents: Contents,
): Promise<ExtensionExplanation> {
  const { choice, packages } = await chooseInline(subject, contents);
  const request = requestOf(subject);
  const found = new Map<string, readonly PackageContent[]>();
  for (const name of packages) found.set(name, await packageContents(subject, contents, name));
  const explanation = explainPackage(
    request,
    { of: (name) => found.get(name) ?? [] },
    { present: subject.present(), unavailable: unavailable(subject, contents) },
  );
  const selected = selectedBundle(choice);
  const requires = requirementsOf(choice);
  if (choice.kind === 'resolved' || choice.message === explanation.message) {
    return { selected, requires, explanation };
  }
  // A catalog that cannot be read puts any other answer in doubt.
  const { asked } = explanation;
  const answer = { asked, message: choice.message, chain: [], considered: [], suggestions: [] };
  return { selected, requires, explanation: answer };
}

function requirementsOf(choice: Choice): readonly ExtensionRequirement[] {
  if (choice.kind !== 'resolved') return [];
  return choice.dependencies.map(({ text, metBy }) => ({ text, metBy: metBy?.of }));
}

/** Undefined for no choice. */
export function selectedBundle(choice: Choice): SelectedBundle | undefined {
  if (choice.kind !== 'resolved') return undefined;
  const { bundle, catalog } = choice;
  return { name: bundle.name, version: textOf(bundle.version), catalog: catalog.name };
}

function unavailable({ extension }: Subject, contents: Contents) {
  return contents
    .absent()
    .filter((catalog) => catalog.state === 'Failed' && extension.usesCatalog(catalog))
    .map(({ name, problem }) => ({ name, reason: problem }));
}

async function packageContents(
  { extension }: Subject,
  contents: Contents,
  name: string,
): Promise<readonly PackageContent[]> {
  const found = await contents.findPackage(name, extension.usesCatalog);
  return found.flatMap((each) => ('content' in each ? [each.content] : []));
}

/** The upgrades from one version of a package to another. */
export interface PackagePath {
  /** The version that the path starts at. */
  readonly from: string;
  readonly path: UpgradePath;
}

interface WantedPath extends Pick<PathRequest, 'to' | 'bundle'> {
  /** Default: the installed version. */
  readonly from?: string | undefined;
}

/**
 * The fewest upgrades from the installed version, or from another one, to a version, in the
 * channels that the extension asks for.
 * @throws TerminalError if nothing is installed and `from` is not set
 */
export async function extensionPath(
  subject: Subject,
  contents: Contents,
  { from, ...wanted }: WantedPath,
): Promise<PackagePath> {
  const { packageName, channels, upgrades } = subject.extension.request;
  const found = await packageContents(subject, contents, packageName);
  const start = startOf(subject, found, from);
  const requested = { channels, upgrades, from: start };
  const inChannels = found.map((content) => requestedContent(content, requested));
  const path = pathTo({ packageName, contents: inChannels, from: start, upgrades, ...wanted });
  return { from: textOf(start.version) || start.name, path };
}

function startOf(
  { extension: { id, request }, installation: { installed } }: Subject,
  contents: readonly PackageContent[],
  from: string | undefined,
): UpgradeStart {
  const bundles = contents.flatMap((content) => content.bundles);
  if (from !== undefined) {
    if (versionProblem(from.replace(/^v/, '')) !== undefined) {
      throw new TerminalError(`--from ${from} is not a version, such as 1.2.0`);
    }
    const version = parseTolerantVersion(from);
    const isStart = (each: UpgradeStart): boolean =>
      each.version !== undefined && compareVersions(each.version, version) === 0;
    return bundles.find(isStart) ?? { name: `${request.packageName}.v${from}`, version };
  }
  if (installed === undefined) {
    const [kind, name] = id.split('/');
    throw new TerminalError(
      `${kind} "${name}" has no bundle installed: pass --from with the version to start from`,
    );
  }
  if (installed.name !== '') {
    return { name: installed.name, version: readVersion(installed.version) };
  }
  const { image } = installed;
  return bundles.find((each) => each.image === image) ?? { name: image, version: undefined };
}

function textOf(version: UpgradeStart['version']): string {
  return version === undefined ? '' : versionText(version);
}
