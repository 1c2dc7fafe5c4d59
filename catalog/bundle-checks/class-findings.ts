import { annotation } from '../../api/v1alpha1/labels.ts';
import { errorMessage } from '../../core/errors.ts';
import {
  anyInstallation,
  type Installation,
  markSamples,
  planInstallation,
  type RegistryBundle,
  type RegistryConfig,
  readPackageName,
  registryBundleOf,
  servedCrdVersion,
  supportedInstallMode,
  validators,
  withServedApiVersion,
} from '../../provisioners/registry/index.ts';
import {
  annotationPrefix,
  type BundleContent,
  fileAlone,
  type LocatedObject,
  placeOf,
} from './bundle-content.ts';
import { csvPlace, placeFor } from './class-places.ts';
import { unfitResources } from './objects/object-rules.ts';
import { error, type Finding, warning } from './problem.ts';

const annotationsFile = 'metadata/annotations.yaml';

/** All errors of the class itself, not only its first one. */
export function classFindings(
  content: BundleContent,
  config: RegistryConfig | undefined,
): readonly Finding[] {
  return [
    ...packageFindings(content),
    ...countFindings(content),
    ...versionFindings(content),
    ...bundleFindings(content, config),
  ];
}

function packageFindings({ files }: BundleContent): readonly Finding[] {
  const fix = `name the package there: annotations."${annotationPrefix}package.v1"`;
  const place = { file: annotationsFile, document: 0, path: ['annotations'] };
  try {
    if (readPackageName(files, 'image') !== '') return [];
    const message = 'the package has no name: the namespace of its objects would be "-system"';
    return [warning({ place, message, fix })];
  } catch (problem) {
    const message = withoutPath(errorMessage(problem));
    return [error({ place: fileAlone(annotationsFile), message, fix })];
  }
}

function withoutPath(message: string): string {
  const prefix = `${annotationsFile}: `;
  return message.startsWith(prefix) ? message.slice(prefix.length) : message;
}

function countFindings({ objects }: BundleContent): readonly Finding[] {
  const csvs = objects.filter(({ object }) => object.kind === 'ClusterServiceVersion');
  const last = csvs.at(-1);
  if (last === undefined) {
    return [error({ message: 'there is no ClusterServiceVersion in manifests/', fix: 'add it' })];
  }
  if (csvs.length === 1) return [];
  const message = `there are ${csvs.length} of kind ClusterServiceVersion`;
  return [warning({ place: placeOf(last), message, fix: 'keep one: the last one counts' })];
}

function versionFindings({ objects }: BundleContent): readonly Finding[] {
  return inReadVersions(objects).flatMap((read, index): Finding[] => {
    const written = objects[index];
    if (written === undefined || read === written) return [];
    const { apiVersion, kind, metadata } = read.object;
    const message = `${kind} "${metadata.name ?? ''}" has no apiVersion, and core reads it as ${apiVersion}`;
    return [warning({ place: placeOf(written), message, fix: `add "apiVersion: ${apiVersion}"` })];
  });
}

/** Gives objects without apiVersion the one in which the class reads their kind, if it knows one. */
export function inReadVersions(objects: readonly LocatedObject[]): readonly LocatedObject[] {
  return objects.map((located) => {
    if (located.object.apiVersion !== '') return located;
    const object = withServedApiVersion(located.object);
    return object === located.object ? located : { ...located, object };
  });
}

function bundleFindings(
  content: BundleContent,
  config: RegistryConfig | undefined,
): readonly Finding[] {
  let bundle: RegistryBundle;
  try {
    bundle = readBundle(content);
  } catch (problem) {
    const place =
      content.csv === undefined ? undefined : csvPlace(content.csv, errorMessage(problem));
    const fix = 'give the field the type that it has in the API';
    return [error({ ...(place && { place }), message: errorMessage(problem), fix })];
  }
  if (content.csv === undefined) return [];
  if (config !== undefined) {
    return complaintsOf(content, bundle, planInstallation(bundle, config));
  }
  return [...needsConfig(content, bundle), ...complaintsOf(content, bundle, anyOf(bundle))];
}

/** Warns of left-out samples, and reports custom resources that do not fit the bundle's CRDs. */
export function sampleFindings(content: BundleContent): readonly Finding[] {
  const bundle = readableBundle(content);
  const samples = new Map(
    bundle && markSamples(bundle.others, bundle).map((made, index) => [bundle.others[index], made]),
  );
  const reasons = content.objects.map((located) => {
    const annotations = samples.get(located.object)?.metadata.annotations;
    return { located, because: annotations?.[annotation.leftOut] };
  });
  const kept = reasons.filter(({ because }) => because === undefined);
  return [
    ...unfitResources(kept.map(({ located }) => located)),
    ...reasons.flatMap(({ located, because }) => {
      if (because === undefined) return [];
      const { kind, metadata } = located.object;
      const message = `${kind} "${metadata.name ?? ''}" is left out: ${because}`;
      return [warning({ place: placeOf(located), message, fix: 'remove it from manifests/' })];
    }),
  ];
}

function readableBundle(content: BundleContent): RegistryBundle | undefined {
  try {
    return readBundle(content);
  } catch {
    // Another finding reports the error.
    return undefined;
  }
}

function readBundle({ files, objects }: BundleContent): RegistryBundle {
  const all = objects.map(({ object }) => object);
  return registryBundleOf(packageNameOf(files), all);
}

function packageNameOf(files: BundleContent['files']): string {
  try {
    return readPackageName(files, 'image');
  } catch {
    return '';
  }
}

/** The installation without a spec.config if supported, else any of the bundle's install modes. */
function anyOf(bundle: RegistryBundle): Installation {
  const plain = planInstallation(bundle);
  return modeProblem(bundle, plain) === undefined ? plain : anyInstallation(bundle);
}

/** Not an error of the bundle, but users must know it before they install it. */
function needsConfig({ csv }: BundleContent, bundle: RegistryBundle): readonly Finding[] {
  const message = modeProblem(bundle, planInstallation(bundle));
  if (message === undefined || csv === undefined) return [];
  if (modeProblem(bundle, anyInstallation(bundle)) !== undefined) return [];
  const configured = planInstallation(bundle, { overrides: {} });
  const [, way] = (modeProblem(bundle, configured) ?? '').split(': write ');
  return [
    warning({
      place: placeOf(csv, 'spec', 'installModes'),
      message: `${message}, or the BundleDeployment must have a spec.config`,
      fix: `write ${way ?? 'it'}`,
    }),
  ];
}

function modeProblem(bundle: RegistryBundle, installation: Installation): string | undefined {
  const [problem] = supportedInstallMode(bundle, installation);
  return problem?.message;
}

/** More findings of one kind do not help. */
const maxComplaints = 50;

/** Findings of the class's validators, each with its place. */
function complaintsOf(
  content: BundleContent,
  bundle: RegistryBundle,
  installation: Installation,
): readonly Finding[] {
  return validators.flatMap((validate) => {
    // The class reports all CRDs of a removed version in one error; here each gets its own line.
    const apart = validate === servedCrdVersion ? bundle.crds.map((crd) => [crd]) : [bundle.crds];
    const problems = apart.flatMap((crds) => [...validate({ ...bundle, crds }, installation)]);
    return problems.slice(0, maxComplaints).map((problem) => {
      const { message: text } = problem;
      const [message = text, ...fix] = text.split(/; |: (?=write |the operator supports none)/);
      const place = placeFor(content, bundle, problem);
      return error({ ...(place && { place }), message, fix: fix.join('; ') || wayOut(text) });
    });
  });
}

function wayOut(text: string): string {
  if (/unsupported resource/.test(text))
    return 'remove the object, or install it by a plain bundle';
  return 'correct the ClusterServiceVersion';
}
