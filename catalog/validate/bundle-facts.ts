import { goQuote } from '../../api/go-quote.ts';
import type { JsonObject, JsonValue } from '../../api/json.ts';
import { isMap } from '../../api/json-fields.ts';
import { TerminalError } from '../../core/errors.ts';
import {
  type Identifier,
  parseIdentifier,
  parseVersion,
  type Version,
  VersionError,
} from '../../resolver/versions/index.ts';
import type { OlmBundle, Property } from '../blobs/index.ts';
import { pullSpecProblem } from './pull-spec.ts';

/** The small part of a bundle that the checks need. */
export interface BundleFacts {
  readonly version: Version;
  readonly release: readonly Identifier[];
  /** Whether it has an image, or its own manifests. */
  readonly hasContent: boolean;
}

/**
 * Reads the facts of a bundle for the checks.
 * @throws TerminalError with opm's text for wrong properties, images or version.
 */
export function bundleFacts(bundle: OlmBundle): BundleFacts {
  const packages = packageProperties(bundle);
  const [property] = packages;
  const place = `package ${goQuote(bundle.package)} bundle ${goQuote(bundle.name)}`;
  if (property === undefined || packages.length > 1) {
    throw new TerminalError(
      `${place} must have exactly 1 "olm.package" property, found ${packages.length}`,
    );
  }
  if (property.packageName !== bundle.package) {
    throw new TerminalError(
      `package ${goQuote(bundle.package)} does not match "olm.package" property ${goQuote(property.packageName)}`,
    );
  }
  checkPullSpec(`${place} image`, bundle.image);
  for (const [index, { image }] of bundle.relatedImages.entries()) {
    checkPullSpec(`${place} relatedImages[${index}].image`, image);
  }
  return {
    version: versionOf(bundle.name, property.version),
    release: releaseOf(bundle.name, property.release),
    hasContent: bundle.image !== '' || bundle.properties.some(isManifest),
  };
}

function isManifest({ type }: Property): boolean {
  return type === 'olm.bundle.object';
}

function checkPullSpec(place: string, text: string): void {
  const problem = text === '' ? undefined : pullSpecProblem(text);
  if (problem === undefined) return;
  throw new TerminalError(`${place}: invalid image pull spec ${goQuote(text)}: ${problem}`);
}

/** The value of an `olm.package` property. */
export interface PackageProperty {
  readonly packageName: string;
  readonly version: string;
  readonly release: string;
}

/** Go's type and the text fields of properties that the checks read. */
const known: ReadonlyMap<string, readonly [string, readonly string[]]> = new Map([
  ['olm.package', ['Package', ['packageName', 'version', 'release']]],
  ['olm.package.required', ['PackageRequired', ['packageName', 'versionRange']]],
  ['olm.gvk', ['GVK', ['group', 'kind', 'version']]],
  ['olm.gvk.required', ['GVKRequired', ['group', 'kind', 'version']]],
]);

/**
 * All `olm.package` properties of a bundle.
 * @throws TerminalError `parse properties for bundle "…": …` for an invalid value of a known type
 */
export function packageProperties(bundle: OlmBundle): readonly PackageProperty[] {
  return bundle.properties.flatMap((property, index) => {
    const texts = textsOf(property, (problem) => {
      const place = `parse property[${index}] of type ${goQuote(property.type)}`;
      return new TerminalError(
        `parse properties for bundle ${goQuote(bundle.name)}: ${place}: ${problem}`,
      );
    });
    if (property.type !== 'olm.package') return [];
    const text = (field: string) => texts.get(field) ?? '';
    const release = text('release');
    return [{ packageName: text('packageName'), version: text('version'), release }];
  });
}

function textsOf(
  { type, value }: Property,
  failure: (problem: string) => TerminalError,
): ReadonlyMap<string, string> {
  if (value === undefined) throw failure('unexpected end of JSON input');
  const [name, fields = []] = known.get(type) ?? [];
  const texts = new Map<string, string>();
  if (name === undefined || value === null) return texts;
  if (!isMap(value)) {
    throw failure(`json: cannot unmarshal ${kindOf(value)} into Go value of type property.${name}`);
  }
  for (const field of fields) {
    const member = memberOf(value, field);
    if (typeof member === 'string') texts.set(field, member);
    else if (isValue(member)) {
      throw failure(
        `json: cannot unmarshal ${kindOf(member)} into Go struct field ${name}.${field} of type string`,
      );
    }
  }
  return texts;
}

/** A member as Go reads fields: in any case, and the last one wins. */
function memberOf(value: JsonObject, field: string): JsonValue | undefined {
  const key = Object.keys(value).findLast((each) => each.toLowerCase() === field.toLowerCase());
  return key === undefined ? undefined : value[key];
}

function isValue(value: JsonValue | undefined): value is Exclude<JsonValue, null> {
  return value !== null && value !== undefined;
}

function kindOf(value: JsonValue): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'bigint' ? 'number' : typeof value;
}

function versionOf(bundle: string, text: string): Version {
  try {
    return parseVersion(text);
  } catch (error) {
    if (!(error instanceof VersionError)) throw error;
    throw new TerminalError(
      `error parsing bundle ${goQuote(bundle)} version ${goQuote(text)}: ${error.message}`,
    );
  }
}

const longestRelease = 20;

function releaseOf(bundle: string, text: string): readonly Identifier[] {
  if (text === '') return [];
  const failure = (problem: string) =>
    new TerminalError(
      `error parsing bundle ${goQuote(bundle)} release version ${goQuote(text)}: invalid release ${goQuote(text)}: ${problem}`,
    );
  if (Buffer.byteLength(text) > longestRelease) {
    throw failure(`exceeds maximum length of ${longestRelease} characters`);
  }
  const problems: string[] = [];
  const parts = text.split('.').flatMap((segment, index) => {
    try {
      return [parseIdentifier(segment)];
    } catch (error) {
      if (!(error instanceof VersionError)) throw error;
      problems.push(`segment ${index}: ${error.message}`);
      return [];
    }
  });
  if (problems.length > 0) throw failure(problems.join('\n'));
  return parts;
}
