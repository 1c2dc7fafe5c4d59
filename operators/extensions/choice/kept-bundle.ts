import { goQuote } from '../../../api/go-quote.ts';
import type { AbsentCatalog } from '../../catalogs/index.ts';
import type { Choice, ChoiceRequest } from '../findings.ts';

/** Why a choice must not replace the bundle that an extension has. */
export interface Objection {
  /** With what to do, if a user has to act. */
  readonly message: string;
  /** Whether a catalog that gets its content ends it. */
  readonly awaitsContent: boolean;
}

/** @param absent the catalogs of the extension that have no content */
export function objectionTo(
  choice: Choice,
  subject: ChoiceRequest,
  absent: readonly AbsentCatalog[],
): Objection | undefined {
  const { record } = subject.installation;
  // The BundleDeployment has it already.
  if (imageOf(choice) === record?.selected.image && record !== undefined) return undefined;
  return otherPackage(choice, subject) ?? lostOrigin(choice, subject, absent);
}

function imageOf(choice: Choice): string | undefined {
  return choice.kind === 'resolved' ? choice.bundle.image : undefined;
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
  const message = `BundleDeployment ${goQuote(name)} has bundle ${goQuote(installed.name)} of package ${before} installed, and the controller does not replace it by package ${wanted}: request package ${before}, give the ${kind} another name, or delete the BundleDeployment, which uninstalls package ${before}`;
  return { message, awaitsContent: false };
}

/**
 * Another catalog must not take over what is installed only because that of the installed bundle
 * has lost its content.
 */
function lostOrigin(
  choice: Choice,
  { installation: { installed } }: ChoiceRequest,
  absent: readonly AbsentCatalog[],
): Objection | undefined {
  if (choice.kind !== 'resolved' || installed === undefined) return undefined;
  const origin = absent.find(({ name, state }) => name === installed.catalog && state === 'Failed');
  if (origin === undefined || choice.bundle.image === installed.image) return undefined;
  const message = `catalog "${origin.name}", which the installed bundle is from, has no content: ${origin.problem}`;
  return { message, awaitsContent: true };
}
