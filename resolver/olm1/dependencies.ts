import { goQuote } from '../../api/go-quote.ts';
import type { Budget } from '../budget.ts';
import type { Bundle, Property } from '../candidates/index.ts';
import {
  ConstraintError,
  constraintsOf,
  fieldIn,
  type Candidate as PossibleProvider,
  type Requirement,
} from '../constraints/index.ts';
import type { PackageContents, PresentBundle, Surroundings } from './package-request.ts';
import type { Dependency } from './package-resolution.ts';

/** Where a bundle's dependencies are looked for. */
interface Place {
  readonly contents: PackageContents;
  readonly surroundings: Surroundings;
  readonly budget: Budget;
}

/** What a bundle requires of others, judged by what is installed or asked for. */
export function dependenciesOf(owner: PossibleProvider, place: Place): readonly Dependency[] {
  const { budget } = place;
  budget.take(owner.properties.length);
  const own = owner.properties.filter(
    ({ type }) => type.endsWith('.required') || isConstraint(type),
  );
  // Most bundles require nothing.
  if (own.length === 0) return [];
  const providers = new Providers(place);
  return own.flatMap((property) => {
    try {
      return constraintsOf([property], budget)
        .filter((requirement) => !requirement.isMetBy(owner))
        .map((requirement) => judged(property, requirement, providers));
    } catch (error) {
      if (!(error instanceof ConstraintError)) throw error;
      const text = `what property ${goQuote(property.type)} names, which is invalid: ${error.message}`;
      return [{ property, text, isInvalid: true, package: undefined, metBy: undefined }];
    }
  });
}

function isConstraint(type: string): boolean {
  return type === 'olm.constraint';
}

function judged(property: Property, requirement: Requirement, providers: Providers): Dependency {
  const required = requiredPackage(property);
  const text =
    required === undefined
      ? `an operator ${requirement.text}`
      : `package ${goQuote(required.name)} in version range ${goQuote(required.versionRange)}`;
  const metBy = providers.find(requirement, required?.name);
  const unmetBy = metBy === undefined && required ? providers.ofPackage(required.name) : undefined;
  return { property, text, package: required, metBy, ...(unmetBy && { unmetBy }) };
}

/** Undefined for other requirements than that of a package. */
export function requiredPackage({ type, value }: Property): Dependency['package'] {
  if (type !== 'olm.package.required') return undefined;
  const name = fieldIn(value, 'packageName');
  const versionRange = fieldIn(value, 'versionRange');
  if (typeof name !== 'string' || typeof versionRange !== 'string') return undefined;
  return { name, versionRange };
}

/** The bundles that other objects have or ask for, installed ones first. */
class Providers {
  readonly #contents: PackageContents;
  readonly #budget: Budget;
  readonly #present: readonly PresentBundle[];
  readonly #whole = new Map<PresentBundle, PossibleProvider>();

  constructor({ contents, surroundings: { present }, budget }: Place) {
    this.#contents = contents;
    this.#budget = budget;
    budget.takeSort(present.length);
    this.#present = present.toSorted(
      (a, b) =>
        Number(b.isInstalled) - Number(a.isInstalled) ||
        compareText(a.of, b.of) ||
        compareText(a.bundle.name, b.bundle.name),
    );
  }

  /** Reads no other package than the one that a requirement names, if it names one. */
  find(requirement: Requirement, packageName: string | undefined): PresentBundle | undefined {
    return this.#present.find(
      (each) =>
        (packageName === undefined || packageName === each.packageName) &&
        requirement.isMetBy(this.#wholeOf(each)),
    );
  }

  ofPackage(name: string): PresentBundle | undefined {
    return this.#present.find(({ packageName }) => packageName === name);
  }

  /** Records of installed bundles have few properties: the catalogs know the others. */
  #wholeOf(present: PresentBundle): PossibleProvider {
    const known = this.#whole.get(present);
    if (known !== undefined) return known;
    const { packageName, bundle } = present;
    const properties = this.#inCatalogs(packageName, bundle)?.properties ?? bundle.properties;
    const whole = { packageName, version: bundle.version, properties };
    this.#whole.set(present, whole);
    return whole;
  }

  #inCatalogs(packageName: string, { name, image }: Bundle): Bundle | undefined {
    const bundles = this.#contents.of(packageName).flatMap((content) => content.bundles);
    this.#budget.take(bundles.length);
    return bundles.find((each) => each.name === name && each.image === image);
  }
}

function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
