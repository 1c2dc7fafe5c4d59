import type { Deprecation, PackageContent } from '../../../resolver/candidates/index.ts';
import {
  type InstalledBundle,
  type PackageRequest,
  type PackageResolution,
  resolvePackage,
  type Surroundings,
  type UnavailableCatalog,
} from '../../../resolver/olm1/index.ts';
import type { AbsentCatalog, CatalogContents, ServingCatalog } from '../../catalogs/index.ts';
import type { Installation } from '../deployment/installation.ts';
import type { Extension } from '../extension.ts';
import type { Choice, FailedChoice } from '../findings.ts';

export interface Subject {
  readonly extension: Extension;
  readonly installation: Installation;
  /** What other extensions have and ask for. */
  readonly present: () => Surroundings['present'];
}

type Contents = Pick<CatalogContents, 'serving' | 'absent' | 'findPackage'>;

/** What a choice was made from. */
export interface Chosen {
  readonly choice: Choice;
  /** Names of the packages that were read. */
  readonly packages: readonly string[];
}

/** Chooses a bundle for an extension from the catalogs that it may use. Never throws for content. */
export async function choose(subject: Subject, contents: Contents): Promise<Chosen> {
  const { extension } = subject;
  const absent = contents.absent().filter(extension.usesCatalog);
  const pending = absent.filter(({ state }) => state === 'Pending');
  if (pending.length > 0) return { choice: waitingFor(pending), packages: [] };
  const library = new PackageLibrary(contents, extension.usesCatalog);
  const { packageName } = extension.request;
  await library.load([packageName]);
  const resolution = await library.resolve(requestOf(subject), {
    // The list of most resolutions is never read.
    get present() {
      return subject.present();
    },
    unavailable: absent.filter(({ state }) => state === 'Failed').map(unavailable),
  });
  const choice = choiceOf(packageName, resolution, library.of(packageName));
  const { problems } = library;
  const doubt = problems[0] ?? lostOrigin(subject, choice, absent);
  return {
    choice: doubt === undefined ? choice : doubtful(choice, doubt),
    packages: library.packages,
  };
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

/** What catalogs have of the packages that a resolution reads. */
class PackageLibrary {
  readonly problems: string[] = [];
  readonly #contents: Contents;
  readonly #isWanted: (catalog: ServingCatalog) => boolean;
  readonly #packages = new Map<string, readonly PackageContent[]>();
  readonly #missing = new Set<string>();

  constructor(contents: Contents, isWanted: (catalog: ServingCatalog) => boolean) {
    this.#contents = contents;
    this.#isWanted = isWanted;
  }

  get packages(): readonly string[] {
    return [...this.#packages.keys()];
  }

  of(name: string): readonly PackageContent[] {
    const found = this.#packages.get(name);
    if (found === undefined) this.#missing.add(name);
    return found ?? [];
  }

  async load(names: Iterable<string>): Promise<void> {
    for (const name of names) {
      const found = await this.#contents.findPackage(name, this.#isWanted);
      const whole = found.flatMap((each) => ('content' in each ? [each.content] : []));
      this.#packages.set(name, whole);
      for (const each of found) {
        if ('problem' in each) {
          this.problems.push(
            `error getting package "${name}" from catalog "${each.catalog.name}": ${each.problem}`,
          );
        }
      }
    }
  }

  /** Resolves again as long as the resolution asks for packages that are not loaded. */
  async resolve(request: PackageRequest, surroundings: Surroundings): Promise<PackageResolution> {
    for (;;) {
      this.#missing.clear();
      const resolution = resolvePackage(request, this, surroundings);
      if (this.#missing.size === 0) return resolution;
      await this.load([...this.#missing]);
    }
  }
}

function choiceOf(
  packageName: string,
  resolution: PackageResolution,
  contents: readonly PackageContent[],
): Choice {
  if (resolution.kind === 'failed') {
    const { reason, message, explanation, newest } = resolution;
    const advice = [...explanation.chain, ...explanation.suggestions].join(' ') || message;
    const deprecations = contents.flatMap((content) => content.deprecations);
    return { kind: 'failed', reason, message, advice, newest, deprecations };
  }
  const { bundle, catalog, newest, dependencies } = resolution;
  const deprecations = deprecationsIn(contents, catalog.name);
  const found = { bundle, catalog, newest, dependencies, deprecations };
  return { kind: 'resolved', packageName, ...found };
}

function deprecationsIn(
  contents: readonly PackageContent[],
  catalog: string,
): readonly Deprecation[] {
  return contents.find((each) => each.catalog.name === catalog)?.deprecations ?? [];
}

/**
 * Another catalog must not take over what is installed only because that of the installed bundle
 * has lost its content.
 */
function lostOrigin(
  { installation: { installed } }: Subject,
  choice: Choice,
  absent: readonly AbsentCatalog[],
): string | undefined {
  if (choice.kind !== 'resolved' || installed === undefined) return undefined;
  const origin = absent.find(({ name, state }) => name === installed.catalog && state === 'Failed');
  if (origin === undefined || choice.bundle.image === installed.image) return undefined;
  return `catalog "${origin.name}", which the installed bundle is from, has no content: ${origin.problem}`;
}

function doubtful(choice: Choice, message: string): FailedChoice {
  const { newest, deprecations } =
    choice.kind === 'pending' ? { newest: undefined, deprecations: [] } : choice;
  const advice = `${message}. The controller changes nothing until it has the content.`;
  return { kind: 'failed', reason: 'no-candidates', message, advice, newest, deprecations };
}
