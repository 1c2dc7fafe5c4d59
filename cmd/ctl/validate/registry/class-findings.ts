import { annotation } from '../../../../api/v1alpha1/labels.ts';
import { errorMessage } from '../../../../core/errors.ts';
import type {
  Installation,
  RegistryBundle,
  RegistryConfig,
} from '../../../../provisioners/registry/index.ts';
import {
  anyInstallation,
  markSamples,
  planInstallation,
  readPackageName,
  registryBundleOf,
  supportedInstallMode,
} from '../../../../provisioners/registry/index.ts';
import { error, type Finding, warning } from '../finding.ts';
import { unfitResources } from '../own-resources.ts';
import { annotationPrefix, type BundleContent, fileAlone, placeOf } from './bundle-content.ts';
import { complaintsOf } from './complaints.ts';

const annotationsFile = 'metadata/annotations.yaml';

/** What the class itself refuses, all of it and not its first word only. */
export function classFindings(
  content: BundleContent,
  config: RegistryConfig | undefined,
): readonly Finding[] {
  return [
    ...packageFindings(content),
    ...countFindings(content),
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

/** Custom resources of the bundle's own kinds: samples are left out, others must fit their CRDs. */
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
    // What is wrong with it is another finding.
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

/** As without a spec.config where that will do, else in a way that the bundle's install modes allow. */
export function anyOf(bundle: RegistryBundle): Installation {
  const plain = planInstallation(bundle);
  return modeProblem(bundle, plain) === undefined ? plain : anyInstallation(bundle);
}

/** No fault of the bundle, but what a person has to know who installs it. */
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

/** The field that a mismatch of types names, as in `(spec.installModes is a string, …)`. */
function csvPlace(csv: NonNullable<BundleContent['csv']>, message: string) {
  const named = /\(([^\s()]+) is /.exec(message)?.[1] ?? '';
  const path = named.split(/[.[\]]+/).filter(Boolean);
  return placeOf(csv, ...path.map((step) => (/^[0-9]+$/.test(step) ? Number(step) : step)));
}
