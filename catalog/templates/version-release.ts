import { goQuote } from '../../api/go-quote.ts';
import { parseJson } from '../../api/json.ts';
import { fieldAt, isMap, stringAt } from '../../api/json-fields.ts';
import { errorMessage, TerminalError } from '../../core/errors.ts';
import {
  compareVersions,
  type Identifier,
  parseIdentifier,
  parseVersion,
  type Version,
  zeroVersion,
} from '../../resolver/versions/index.ts';
import type { OlmBundle, Property } from '../blobs/index.ts';
import type { RenderedBundle } from '../render/index.ts';

/** The version of a bundle, and the release of its packaging. */
export interface VersionRelease {
  readonly version: Version;
  readonly release: readonly Identifier[];
}

/** Compares version first, then release; any release is higher than none. */
export function compareReleases(a: VersionRelease, b: VersionRelease): number {
  const order = compareVersions(a.version, b.version);
  if (order !== 0) return order;
  if (a.release.length === 0 || b.release.length === 0) return a.release.length - b.release.length;
  return compareVersions(
    { ...zeroVersion, prerelease: a.release },
    { ...zeroVersion, prerelease: b.release },
  );
}

/**
 * Version and release of the property olm.package. If a bundle without a release substitutes for
 * another, its build metadata is the release, as before releases existed.
 */
export function versionRelease({ bundle, csv }: RenderedBundle): VersionRelease {
  const [property, ...more] = bundle.properties.filter(({ type }) => type === 'olm.package');
  const name = goQuote(bundle.name);
  if (more.length > 0)
    throw new TerminalError('must be exactly one property of type "olm.package"');
  if (property === undefined) {
    throw new TerminalError(`no "olm.package" property found for bundle ${name}`);
  }
  const where = `in "olm.package" property for bundle ${name}`;
  const version = versionOf(property, where);
  const release = releaseOf(stringAt(property.value, 'release') ?? '', where);
  if (release.length > 0 || version.build.length === 0 || !substitutes(bundle, csv)) {
    return { version, release };
  }
  return {
    version: { ...version, build: [] },
    release: releaseOf(version.build.join('.'), where),
  };
}

function versionOf({ value }: Property, where: string): Version {
  const text = stringAt(value, 'version') ?? '';
  try {
    return parseVersion(text);
  } catch (error) {
    throw new TerminalError(
      `invalid semver version ${goQuote(text)} ${where}: ${errorMessage(error)}`,
      { cause: error },
    );
  }
}

const longestRelease = 20;

function releaseOf(text: string, where: string): readonly Identifier[] {
  if (text === '') return [];
  const named = `invalid release ${goQuote(text)}`;
  if (text.length > longestRelease) {
    throw new TerminalError(
      `${named} ${where}: ${named}: exceeds maximum length of ${longestRelease} characters`,
    );
  }
  const problems: string[] = [];
  const identifiers = text.split('.').flatMap((segment, index) => {
    try {
      return [parseIdentifier(segment)];
    } catch (error) {
      problems.push(`segment ${index}: ${errorMessage(error)}`);
      return [];
    }
  });
  if (problems.length === 0) return identifiers;
  throw new TerminalError(`${named} ${where}: ${named}: ${problems.join('\n')}`);
}

const annotation = 'olm.substitutesFor';

function substitutes({ properties }: OlmBundle, csv: string): boolean {
  if (csv !== '') return isSet(fieldAt(parseJson(csv), 'metadata', 'annotations', annotation));
  const metadata = properties.find(({ type }) => type === 'olm.csv.metadata')?.value;
  return isMap(metadata) && isSet(fieldAt(metadata, 'annotations', annotation));
}

function isSet(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}
