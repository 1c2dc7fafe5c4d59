import { goQuote } from '../../../api/go-quote.ts';
import {
  compareVersions,
  parseConstraint,
  readVersion,
  satisfies,
} from '../../../resolver/versions/index.ts';
import type { CatalogContents, PackageAnswer } from '../../catalogs/index.ts';
import type { BundleRecord } from '../deployment/bundle-record.ts';
import { adviceFor } from '../deployment/installation.ts';
import { wantedBundle } from '../deployment/rollout.ts';
import type { Choice, ChoiceRequest, ResolvedChoice } from '../findings.ts';

/** Why a choice must not replace the bundle that an extension has. */
export interface Objection {
  /** With what to do, if a user has to act. */
  readonly message: string;
  /** Whether a catalog that gets its content ends it. */
  readonly awaitsContent: boolean;
}

export type Catalogs = Pick<CatalogContents, 'serving' | 'absent'>;

export function objectionTo(
  choice: Choice,
  subject: ChoiceRequest,
  catalogs: Catalogs,
): Objection | undefined {
  const { record } = subject.installation;
  // The BundleDeployment has it already.
  if (record !== undefined && imageOf(choice) === record.selected.image) return undefined;
  const objection = otherPackage(choice, subject);
  if (objection !== undefined || choice.kind !== 'resolved') return objection;
  for (const bundle of bundlesWithoutCatalog(subject, catalogs)) {
    if (bundle.image === choice.bundle.image) continue;
    const found =
      lostContent(bundle, subject, catalogs) ?? lowerVersion(bundle, choice, subject.extension);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The selected bundle, while core has applied a part of it. */
export function begunUpgrade({
  deployment,
  record,
  installed,
}: ChoiceRequest['installation']): BundleRecord | undefined {
  const selected = record?.selected;
  if (deployment === undefined || selected?.image === installed?.image) return undefined;
  const { applied, rollback } = deployment.status ?? {};
  const isBegun = rollback === undefined && applied?.begun === wantedBundle(deployment);
  return isBegun ? selected : undefined;
}

/**
 * Core has begun an upgrade, and the catalogs do not have its bundle any more: objects that it has
 * changed already would go back to a version that cannot read them.
 */
export function takenBack(
  choice: Choice,
  { extension: { request }, installation }: ChoiceRequest,
  { hasImage }: Pick<PackageAnswer, 'hasImage'>,
): Objection | undefined {
  const bundle = begunUpgrade(installation);
  if (bundle === undefined || hasImage || choice.kind !== 'resolved') return undefined;
  const { name, version } = bundle;
  if (request.upgrades === 'any' || !isLower(choice, bundle) || !isRequested(bundle, request)) {
    return undefined;
  }
  const message = `no catalog has bundle ${goQuote(name)} any more, which core has begun to install, and the controller does not replace it by ${goQuote(choice.bundle.name)}, which has a lower version: request a version range without ${version} to go back`;
  return { message, awaitsContent: false };
}

/** The installed and the selected bundle, without those whose catalog has content. */
export function bundlesWithoutCatalog(
  { extension: { usesCatalog }, installation: { installed, record } }: ChoiceRequest,
  catalogs: Pick<Catalogs, 'serving'>,
): readonly BundleRecord[] {
  const serving = new Set(catalogs.serving().filter(usesCatalog).map(nameOf));
  return [installed, record?.selected].flatMap((bundle) =>
    bundle === undefined || bundle.catalog === '' || serving.has(bundle.catalog) ? [] : [bundle],
  );
}

function imageOf(choice: Choice): string | undefined {
  return choice.kind === 'resolved' ? choice.bundle.image : undefined;
}

function nameOf({ name }: { readonly name: string }): string {
  return name;
}

/** Core would delete what the other package has installed, with its CRDs and custom resources. */
function otherPackage(
  choice: Choice,
  { extension: { id, name, request }, installation: { installed } }: ChoiceRequest,
): Objection | undefined {
  const { packageName, profile, upgrades } = request;
  if (installed === undefined || installed.package === '') return undefined;
  if (installed.package === packageName) return undefined;
  // The package has the installed bundle too: it has another name now.
  const isFound = profile === 'operator' && upgrades !== 'any' && choice.kind === 'resolved';
  if (isFound || imageOf(choice) === installed.image) return undefined;
  const [kind] = id.split('/');
  const [before, wanted] = [installed.package, packageName].map(goQuote);
  const message = `BundleDeployment ${goQuote(name)} has bundle ${goQuote(installed.name)} of package ${before} installed, and the controller does not replace it by package ${wanted}: request package ${before}, ${adviceFor(kind)}, which uninstalls package ${before}`;
  return { message, awaitsContent: false };
}

/** Another catalog must not take over only because that of a bundle has lost its content. */
function lostContent(
  bundle: BundleRecord,
  { extension: { request, usesCatalog }, installation: { installed } }: ChoiceRequest,
  catalogs: Pick<Catalogs, 'absent'>,
): Objection | undefined {
  const isOrigin = ({ name }: { readonly name: string }) => name === bundle.catalog;
  const origin = catalogs.absent().filter(usesCatalog).find(isOrigin);
  if (origin?.state !== 'Failed') return undefined;
  const isInstalled = bundle.image === installed?.image;
  // A user may take back what core has not installed.
  if (!isInstalled && !isRequested(bundle, request)) return undefined;
  const which = isInstalled
    ? 'the installed bundle'
    : `the selected bundle ${goQuote(bundle.name)}`;
  const message = `catalog "${origin.name}", which ${which} is from, has no content: ${origin.problem}`;
  return { message, awaitsContent: true };
}

/** A catalog that is gone, switched off or not selected is no reason for a downgrade. */
function lowerVersion(
  bundle: BundleRecord,
  choice: ResolvedChoice,
  { request }: ChoiceRequest['extension'],
): Objection | undefined {
  if (!isLower(choice, bundle) || !isRequested(bundle, request)) return undefined;
  const { name, version, catalog } = bundle;
  const other = `${goQuote(choice.bundle.name)} of catalog ${goQuote(choice.catalog.name)}`;
  const message = `catalog ${goQuote(catalog)}, which bundle ${goQuote(name)} is from, is not available any more, and the controller does not replace it by ${other}, which has a lower version: make catalog ${goQuote(catalog)} available, or request a version range without ${version}`;
  return { message, awaitsContent: false };
}

/** Whether the choice has a lower version, as far as that is known. */
function isLower(
  { bundle: { version: after } }: ResolvedChoice,
  { version }: BundleRecord,
): boolean {
  const before = readVersion(version);
  return before !== undefined && after !== undefined && compareVersions(after, before) < 0;
}

/** Whether a version is in the requested range, as far as that is known. */
function isRequested(
  { version: text }: Pick<BundleRecord, 'version'>,
  { version: range }: ChoiceRequest['extension']['request'],
): boolean {
  const version = readVersion(text);
  return range === undefined || version === undefined || satisfies(version, parseConstraint(range));
}
