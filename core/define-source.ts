import { stringifyJson } from '../api/json.ts';
import type { BundleSource } from '../api/v1alpha1/bundle.ts';
import { builtInSourceTypes, parametersFault } from '../api/v1alpha1/rules/source-parameters.ts';
import type { BundleFiles } from './contracts/bundle-files.ts';
import type { Source, SourceContext, SourceServer } from './contracts/source.ts';
import { TerminalError } from './errors.ts';

/** A schema of zod 4, or of any other library with the interface Standard Schema. */
export interface ParametersSchema<Parameters> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (
      value: unknown,
    ) => SchemaResult<Parameters> | Promise<SchemaResult<Parameters>>;
  };
}

type SchemaResult<Parameters> =
  | { readonly value: Parameters; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Names of the members that are strings. */
type NameOfString<T> = {
  [Name in keyof T & string]-?: T[Name] extends string | undefined ? Name : never;
}[keyof T & string];

/** A source with a spec of `type` and `parameters`. Its functions get what its schema returns. */
export interface SourceDefinition<Parameters extends object> {
  /** The value of spec.source.type, as `acme-s3`: lower case letters, digits and hyphens. */
  readonly type: string;
  /** Schema of spec.source.parameters. Core calls no other function with parameters that it refuses. */
  readonly parameters: ParametersSchema<Parameters>;
  /**
   * The parameter that pins the content: a digest, commit or version. Core adds it to
   * status.resolvedSource, and fetches with it from then on.
   */
  readonly pin: NameOfString<Parameters>;
  /** URL of the server that the content comes from; undefined where there is none. */
  host(parameters: Parameters): SourceServer | undefined;
  /** Name of the Secret that the parameters name. Without this function the source may read any. */
  secret?(parameters: Parameters): string | undefined;
  /**
   * Whether the content depends on parameters and Secret alone: Bundles that need it at the same time
   * then share one fetch.
   */
  readonly shareable: boolean;
  /**
   * Fetches the content: what the pin names, where the parameters have it.
   * @throws WaitingError to leave the Bundle Pending, TerminalError where only another spec helps;
   * core retries anything else with back-off.
   */
  fetch(parameters: Parameters, context: SourceContext): Promise<FetchedContent>;
}

/** What `fetch` of a definition gives. */
export interface FetchedContent {
  readonly files: BundleFiles;
  /**
   * Value of the parameter that pins exactly these files. Core stores no content with an empty one, or
   * one that the schema refuses: it retries.
   */
  readonly pin: string;
}

/**
 * Makes a source of a definition, for `sources` of `runManager`.
 * @throws Error where the type is none, or core's own.
 */
export function defineSource<Parameters extends object>(
  definition: SourceDefinition<Parameters>,
): Source {
  const { type, pin, shareable } = definition;
  if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(type)) {
    throw new Error(`source type ${JSON.stringify(type)} must match [a-z0-9]([-a-z0-9]*[a-z0-9])?`);
  }
  if (builtInSourceTypes.includes(type)) {
    throw new Error(`source type "${type}" is core's own: choose another name`);
  }
  const valid = (source: BundleSource): Parameters | undefined => {
    const result = validate(definition, source);
    return result.issues === undefined ? result.value : undefined;
  };
  /** What is wrong with the parameters, the fetch says. */
  const ask = <T>(source: BundleSource, question: (parameters: Parameters) => T): T | undefined => {
    const parameters = valid(source);
    return parameters && question(parameters);
  };
  return {
    type,
    shareable,
    pin: {
      of: (source) => pinOf(valid(source) && source, pin),
      at: (source, value) => {
        const pinned = withPin(source, pin, value);
        return valid(pinned) && pinned;
      },
      place: (source) => valid(source) && stringifyJson({ ...source.parameters, [pin]: undefined }),
    },
    host: (source) => ask(source, (parameters) => definition.host(parameters)),
    ...(definition.secret && {
      secret: (source: BundleSource) => ask(source, (each) => definition.secret?.(each)),
    }),
    fetch: async (source, context) => {
      const wanted = checked(definition, source);
      const fetched: FetchedContent | null | undefined = await definition.fetch(wanted, context);
      if (fetched === undefined || fetched === null) {
        throw new Error(
          `source type "${type}" returned no content: its fetch must return files and pin`,
        );
      }
      return { files: fetched.files, resolvedSource: pinned(definition, source, fetched.pin) };
    },
  };
}

function validate<Parameters extends object>(
  { type, parameters: schema }: SourceDefinition<Parameters>,
  source: BundleSource,
): SchemaResult<Parameters> {
  const { parameters } = source;
  if (parameters === undefined) return { issues: [{ message: 'is missing' }] };
  const fault = parametersFault(source);
  if (fault !== undefined) return { issues: [{ message: fault }] };
  const result = schema['~standard'].validate(parameters);
  if (!(result instanceof Promise)) return result;
  throw new TypeError(`the schema of source type "${type}" must not be asynchronous`);
}

function checked<Parameters extends object>(
  definition: SourceDefinition<Parameters>,
  source: BundleSource,
): Parameters {
  const result = validate(definition, source);
  if (result.issues === undefined) return result.value;
  throw new TerminalError(problemsOf(result.issues));
}

function problemsOf(issues: readonly SchemaIssue[]): string {
  const problems = issues.slice(0, maxIssues).map(({ path = [], message }) => {
    const field = path.map((part) => String(typeof part === 'object' ? part.key : part));
    return `${['spec.source.parameters', ...field].join('.')}: ${message}`;
  });
  return problems.join('; ');
}

/** More issues than anyone reads at once. */
const maxIssues = 10;
/** Characters of a pin in a message. */
const maxShown = 100;

/**
 * The source with the pin of its content.
 * @throws Error when that pins nothing: another fetch may give other content. Not terminal, because
 * somebody may repair the server, and core gets no event of that.
 */
function pinned<Parameters extends object>(
  definition: SourceDefinition<Parameters>,
  source: BundleSource,
  value: unknown,
): BundleSource {
  const { type, pin } = definition;
  if (typeof value !== 'string' || value === '') {
    const is = value === '' ? '""' : `a value of type ${typeof value}`;
    throw new Error(
      `source type "${type}" returned content without a pin: its parameter "${pin}" must be a non-empty string, but is ${is}`,
    );
  }
  const resolved = withPin(source, pin, value);
  const { issues } = validate(definition, resolved);
  if (issues === undefined) return resolved;
  throw new Error(
    `source type "${type}" returned the pin ${JSON.stringify(value.slice(0, maxShown))}, which its schema refuses: ${problemsOf(issues)}`,
  );
}

function pinOf(source: BundleSource | undefined, name: string): string | undefined {
  const value = source?.parameters?.[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function withPin({ type, parameters }: BundleSource, name: string, value: string): BundleSource {
  return { type, parameters: { ...parameters, [name]: value } };
}
