import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import {
  type BundleSource,
  type BundleSpec,
  bundleSpecSchema,
  type ConfigMapSource,
  type GitSource,
  type HTTPSource,
  type ImageSource,
} from '../../api/v1alpha1/bundle.ts';
import { annotation } from '../../api/v1alpha1/labels.ts';
import { parametersFault } from '../../api/v1alpha1/rules/source-parameters.ts';
import {
  type AdmissionValidator,
  type AdmissionVerdict,
  allowed,
  denied,
  errored,
} from '../review.ts';

const annotationsSchema = z.looseObject({ [annotation.pin]: z.string().optional() });
const bundleSchema = z.object({ spec: bundleSpecSchema });
const storedSchema = z.object({
  metadata: z.looseObject({ annotations: annotationsSchema.optional() }).optional(),
  spec: z.unknown(),
});

type StoredBundle = z.infer<typeof storedSchema>;

/** The validator behind `vbundles.core.rukpak.io`. */
export function bundleValidator(configMaps: ConfigMapReader): AdmissionValidator {
  return async ({ operation, subResource, object, oldObject }, signal) => {
    if (subResource) return allowed;
    if (operation === 'UPDATE') return judgeUpdate(object, oldObject);
    if (operation !== 'CREATE') return allowed;
    const bundle = bundleSchema.safeParse(object);
    if (!bundle.success) return undecodable('object', bundle.error);
    const fault = await findSourceFault(bundle.data.spec.source, configMaps, signal);
    return fault === undefined ? allowed : denied(fault);
  };
}

/**
 * The source is judged only when a Bundle is created: its spec stays, and its finalizer must come off
 * whatever became of its ConfigMaps.
 */
function judgeUpdate(object: unknown, oldObject: unknown): AdmissionVerdict {
  const bundle = storedSchema.safeParse(object);
  if (!bundle.success) return undecodable('object', bundle.error);
  const old = storedSchema.safeParse(oldObject);
  if (!old.success) return undecodable('oldObject', old.error);
  if (!isDeepStrictEqual(old.data.spec, bundle.data.spec)) {
    const next = bundleSchema.safeParse(object);
    if (!next.success) return undecodable('object', next.error);
    const before = bundleSchema.safeParse(oldObject);
    if (!before.success) return undecodable('oldObject', before.error);
    if (!isSameSpec(before.data.spec, next.data.spec)) return denied('bundle.spec is immutable');
  }
  if (keepsPin(old.data, bundle.data)) return allowed;
  return denied(
    `annotation ${annotation.pin} identifies the content of the Bundle, and is immutable`,
  );
}

/**
 * Core writes the pin once: empty when it first reconciles a Bundle, then that of the unpacked
 * content.
 */
function keepsPin(old: StoredBundle, bundle: StoredBundle): boolean {
  const before = old.metadata?.annotations?.[annotation.pin];
  const after = bundle.metadata?.annotations?.[annotation.pin];
  return before === '' ? after !== undefined : before === undefined || before === after;
}

function undecodable(field: string, error: z.ZodError) {
  const [issue] = error.issues;
  const path = [`request.${field}`, ...(issue?.path ?? [])].join('.');
  return errored(400, `failed to decode Bundle: ${path}: ${issue?.message}`);
}

/**
 * Whether two specs are equal: an absent field equals its empty value, as in RukPak's decoded
 * types, but an absent source block differs from an empty one.
 */
function isSameSpec(a: BundleSpec, b: BundleSpec): boolean {
  return isDeepStrictEqual(canonicalSpec(a), canonicalSpec(b));
}

function canonicalSpec({ provisionerClassName, source }: BundleSpec): object {
  return { provisionerClassName, source: canonicalSource(source) };
}

function canonicalSource(source: BundleSource): object {
  const { type, image, git, configMaps, upload, http, parameters } = source;
  return {
    type,
    image: image && canonicalImage(image),
    git: git && canonicalGit(git),
    configMaps: (configMaps ?? []).map(canonicalConfigMap),
    upload: upload && {},
    http: http && canonicalHttp(http),
    parameters,
  };
}

function canonicalImage({ ref, pullSecret = '' }: ImageSource): object {
  return { ref, pullSecret };
}

function canonicalGit({ repository, ref, directory = '', auth }: GitSource): object {
  const { branch = '', commit = '', tag = '' } = ref;
  return { repository, ref: { branch, commit, tag }, directory, auth: canonicalAuth(auth) };
}

function canonicalConfigMap({ configMap, path = '' }: ConfigMapSource): object {
  return { name: configMap.name ?? '', path };
}

function canonicalHttp({ url, checksum = '', auth }: HTTPSource): object {
  return { url, checksum, auth: canonicalAuth(auth) };
}

function canonicalAuth(auth: HTTPSource['auth']): object {
  return { secret: auth?.secret?.name ?? '', insecure: auth?.insecureSkipVerify ?? false };
}

/** Reads ConfigMaps of the system namespace. */
export interface ConfigMapReader {
  /** Undefined when there is none of that name. */
  get(name: string, signal: AbortSignal): Promise<{ readonly immutable?: boolean } | undefined>;
}

/**
 * A problem of a source that the schema cannot express, or undefined. Types http and upload need no
 * check; for a third party's type, core reports in a condition whether it is served and its
 * parameters are valid.
 */
async function findSourceFault(
  source: BundleSource,
  configMaps: ConfigMapReader,
  signal: AbortSignal,
): Promise<string | undefined> {
  const fault = parametersFault(source);
  if (fault !== undefined) return `bundle.spec.source.parameters ${fault}`;
  switch (source.type) {
    case 'image':
      return source.image === undefined ? missingBlock('image', 'image') : undefined;
    case 'git':
      return findGitFault(source.git);
    case 'configMaps':
      return findConfigMapsFault(source.configMaps ?? [], configMaps, signal);
    default:
      return undefined;
  }
}

function missingBlock(field: string, type: string): string {
  return `bundle.spec.source.${field} must be set for source type "${type}"`;
}

function findGitFault(git: GitSource | undefined): string | undefined {
  if (git === undefined) return missingBlock('git', 'git');
  if (!leavesRoot(git.directory)) return undefined;
  return 'bundle.spec.source.git.directory begins with "../": directory must define path within the repository';
}

async function findConfigMapsFault(
  sources: readonly ConfigMapSource[],
  configMaps: ConfigMapReader,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (sources.length === 0) return missingBlock('configmaps', 'configmaps');
  const names = new Set(sources.map(({ configMap }) => configMap.name ?? ''));
  const mutable = await findMutable([...names], configMaps, signal);
  const faults = sources.flatMap((source, index) => configMapFaults(source, index, mutable));
  return faults.length > 1 ? `[${faults.join(', ')}]` : faults[0];
}

/** A missing ConfigMap is valid: core checks it when it is created. */
async function findMutable(
  names: readonly string[],
  configMaps: ConfigMapReader,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const mutable = new Set<string>();
  for (const name of names) {
    const configMap = name === '' ? undefined : await configMaps.get(name, signal);
    if (configMap !== undefined && configMap.immutable !== true) mutable.add(name);
  }
  return mutable;
}

function configMapFaults(
  { configMap, path }: ConfigMapSource,
  index: number,
  mutable: ReadonlySet<string>,
): string[] {
  const field = `bundle.spec.source.configmaps[${index}]`;
  const { name = '' } = configMap;
  return [
    ...(leavesRoot(path) ? [`${field}.path is invalid: "${path}" is outside bundle root`] : []),
    ...(mutable.has(name)
      ? [`${field}.configmap.name is invalid: configmap "${name}" is not immutable`]
      : []),
  ];
}

/**
 * Whether the cleaned path starts with `../`. Without cleaning it, because node:path takes minutes
 * for the hundred thousand parts that an object can contain.
 */
function leavesRoot(path = ''): boolean {
  if (path.startsWith('/')) return false;
  let depth = 0;
  for (const part of path.split('/')) {
    if (part === '..') depth -= 1;
    else if (part !== '' && part !== '.') depth += 1;
    if (depth < 0) return true;
  }
  return false;
}
