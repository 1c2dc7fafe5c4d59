import type { Deprecation } from '../../../resolver/candidates/index.ts';
import type {
  InstalledBundle,
  PackageRequest,
  Surroundings,
  UnavailableCatalog,
} from '../../../resolver/olm1/index.ts';
import {
  type AbsentCatalog,
  type CatalogContents,
  inlineResolver,
  type PackageAnswer,
  type PackageResolver,
} from '../../catalogs/index.ts';
import type { Installation } from '../deployment/installation.ts';
import type { Extension } from '../extension.ts';
import type { Choice } from '../findings.ts';
import {
  begunUpgrade,
  type Catalogs,
  type Objection,
  objectionTo,
  takenBack,
} from './kept-bundle.ts';
import { missingCatalog } from './missing-catalog.ts';

export interface Subject {
  readonly extension: Extension;
  readonly installation: Installation;
  /** What other extensions have and ask for. */
  readonly present: () => Surroundings['present'];
}

/** What a choice was made from. */
export interface Chosen {
  readonly choice: Choice;
  /** Names of the packages that were read. */
  readonly packages: readonly string[];
  /** Another attempt may have another answer, although nothing changes. */
  readonly isWorthRetry: boolean;
}

/** Where a choice is made. */
export interface ChoicePlace {
  readonly contents: Catalogs;
  readonly resolver: PackageResolver;
  readonly signal: AbortSignal;
}

/**
 * Chooses a bundle for an extension from the catalogs that it may use. Never throws for content.
 * @throws the reason of the signal
 */
export async function choose(
  subject: Subject,
  { contents, resolver, signal }: ChoicePlace,
): Promise<Chosen> {
  const { extension } = subject;
  const absent = contents.absent().filter(extension.usesCatalog);
  const pending = absent.filter(({ state }) => state === 'Pending');
  if (pending.length > 0) {
    return { choice: waitingFor(pending), packages: [], isWorthRetry: false };
  }
  const surroundings: Surroundings = {
    // The list of most resolutions is never read.
    get present() {
      return subject.present();
    },
    unavailable: absent.filter(({ state }) => state === 'Failed').map(unavailable),
  };
  const answer = await resolver.resolve(
    {
      request: requestOf(subject),
      surroundings,
      isWanted: extension.usesCatalog,
      image: begunUpgrade(subject.installation)?.image,
    },
    signal,
  );
  const choice = withCatalogAdvice(
    choiceOf(extension.request.packageName, answer),
    missingCatalog(extension, contents),
  );
  const objection =
    objectionOf(answer) ??
    objectionTo(choice, subject, contents) ??
    takenBack(choice, subject, answer);
  return {
    choice: withObjection(choice, objection),
    packages: answer.packages,
    isWorthRetry: answer.isWorthRetry,
  };
}

/** Chooses in this process, whatever it takes: for programs that serve nothing meanwhile. */
export async function chooseInline(
  subject: Subject,
  contents: Catalogs & Pick<CatalogContents, 'findPackage'>,
): Promise<Chosen> {
  const { signal } = new AbortController();
  return await choose(subject, { contents, resolver: inlineResolver(contents), signal });
}

function waitingFor(catalogs: readonly AbsentCatalog[]): Choice {
  const names = catalogs.map(({ kind, name }) => `${kind} "${name}"`);
  return { kind: 'pending', message: `Waiting for the content of ${names.join(', ')}.` };
}

function unavailable({ name, problem }: AbsentCatalog): UnavailableCatalog {
  return { name, reason: problem };
}

/** What is asked of the resolver for an extension. */
export function requestOf({ extension, installation }: Subject): PackageRequest {
  return { ...extension.request, installed: installedBundle(extension, installation) };
}

function installedBundle(
  { request, name }: Extension,
  { installed }: Installation,
): InstalledBundle | undefined {
  if (installed === undefined) return undefined;
  const { image, name: bundle, version } = installed;
  if (request.profile === 'operator' || bundle === '') {
    return { by: 'image', image, deployment: name };
  }
  return { by: 'name', name: bundle, version };
}

function choiceOf(
  packageName: string,
  { resolution, deprecations: ofCatalogs }: PackageAnswer,
): Choice {
  if (resolution.kind === 'failed') {
    const { reason, message, explanation, newest } = resolution;
    const advice = [...explanation.chain, ...explanation.suggestions].join(' ') || message;
    const deprecations = ofCatalogs.flatMap((each) => each.deprecations);
    return { kind: 'failed', reason, message, advice, newest, deprecations };
  }
  const { bundle, catalog, newest, dependencies } = resolution;
  const deprecations: readonly Deprecation[] =
    ofCatalogs.find((each) => each.catalog === catalog.name)?.deprecations ?? [];
  const found = { bundle, catalog, newest, dependencies, deprecations };
  return { kind: 'resolved', packageName, ...found };
}

/** The package's name is not to blame where no catalog could have it. */
function withCatalogAdvice(choice: Choice, advice: string | undefined): Choice {
  if (choice.kind !== 'failed' || choice.reason !== 'no-candidates') return choice;
  return advice === undefined ? choice : { ...choice, advice };
}

/** A catalog that cannot be read puts any other answer in doubt. */
function objectionOf({ problems: [message] }: PackageAnswer): Objection | undefined {
  return message === undefined ? undefined : { message, awaitsContent: true };
}

function withObjection(choice: Choice, objection: Objection | undefined): Choice {
  if (objection === undefined) return choice;
  const { message, awaitsContent } = objection;
  const { newest, deprecations } =
    choice.kind === 'pending' ? { newest: undefined, deprecations: [] } : choice;
  const wait = awaitsContent ? ' The controller changes nothing until it has the content.' : '';
  const advice = `${message}.${wait}`;
  return { kind: 'failed', reason: 'no-candidates', message, advice, newest, deprecations };
}
