import { fieldAt, listOf, stringAt } from '../../../core/apply/json-fields.ts';
import type { BundleFiles } from '../../../core/contracts/bundle-files.ts';
import { readPackageName } from '../../../provisioners/registry/annotations.ts';
import { planInstallation } from '../../../provisioners/registry/plan-installation.ts';
import { registryBundleOf } from '../../../provisioners/registry/read-bundle.ts';
import type { RegistryBundle } from '../../../provisioners/registry/registry-bundle.ts';
import { validators } from '../../../provisioners/registry/validators/index.ts';
import type { LocatedObject } from './manifest-objects.ts';
import { objectRules } from './object-rules.ts';
import { type Problem, readingProblem } from './problem.ts';

const annotations = 'metadata/annotations.yaml';
const csvKind = 'ClusterServiceVersion';

/** Everything that the class core-rukpak-io-registry has to say of a bundle, not its first word only. */
export function registryProblems(
  files: BundleFiles,
  objects: readonly LocatedObject[],
): readonly Problem[] {
  const csvs = objects.filter(({ object }) => object.kind === csvKind);
  return [
    ...annotationProblems(files),
    ...csvCountProblems(csvs),
    ...validatorProblems(objects, csvs.at(-1)),
    ...missingDefinitions(objects, csvs.at(-1)),
    // The CSV itself is never applied.
    ...objectRules.flatMap((rule) => rule(objects.filter((located) => !csvs.includes(located)))),
  ];
}

function annotationProblems(files: BundleFiles): readonly Problem[] {
  const fix = `name the package there: annotations."operators.operatorframework.io.bundle.package.v1"`;
  try {
    if (readPackageName(files, 'image') !== '') return [];
    const message = 'the package has no name: the namespace of its objects would be "-system"';
    return [{ severity: 'warning', file: annotations, message, fix }];
  } catch (error) {
    return [readingProblem(error, { file: annotations, fix })];
  }
}

function csvCountProblems(csvs: readonly LocatedObject[]): readonly Problem[] {
  if (csvs.length === 1) return [];
  const [last] = csvs.slice(-1);
  return last === undefined
    ? [{ severity: 'error', message: `there is no ${csvKind} in manifests/`, fix: 'add it' }]
    : [
        {
          severity: 'warning',
          file: last.file,
          message: `there are ${csvs.length} of kind ${csvKind}`,
          fix: 'keep one: the last one counts',
        },
      ];
}

function validatorProblems(
  objects: readonly LocatedObject[],
  csv: LocatedObject | undefined,
): readonly Problem[] {
  const file = csv?.file ?? 'manifests';
  let bundle: RegistryBundle;
  try {
    bundle = registryBundleOf(
      '',
      objects.map(({ object }) => object),
    );
  } catch (error) {
    return [readingProblem(error, { file, fix: 'give the field the type that it has in the API' })];
  }
  return [...complaintsByFile(bundle, objects, file)].map(([message, place]) => ({
    severity: 'error',
    file: place,
    message,
    fix: wayOut(message),
  }));
}

/**
 * A validator stops at the first object that it refuses, so each is shown to it alone; what it says
 * without any is about the CSV.
 */
function complaintsByFile(
  bundle: RegistryBundle,
  objects: readonly LocatedObject[],
  csvFile: string,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const known = new Set(bundle.others);
  const others = objects.filter(({ object }) => known.has(object));
  const installation = planInstallation(bundle);
  for (const validate of validators) {
    const ofCsv = validate({ ...bundle, others: [] }, installation);
    if (ofCsv !== undefined) found.set(ofCsv, csvFile);
    for (const { object, file } of others) {
      const complaint = validate({ ...bundle, others: [object] }, installation);
      if (complaint !== undefined && complaint !== ofCsv) found.set(complaint, file);
    }
  }
  return found;
}

const waysOut: readonly (readonly [text: RegExp, fix: string])[] = [
  [/install mode/i, 'only operators that watch all namespaces can be installed'],
  [/apiService/i, 'operators that serve an API of their own need OLM'],
  [
    /webhookDefinitions/,
    'operators with webhooks of OLM need OLM, or bring their own certificates',
  ],
  [/unsupported resource/, 'remove the object, or install it by a plain bundle'],
];

function wayOut(message: string): string {
  return waysOut.find(([text]) => text.test(message))?.[1] ?? 'correct the ClusterServiceVersion';
}

function missingDefinitions(
  objects: readonly LocatedObject[],
  csv: LocatedObject | undefined,
): readonly Problem[] {
  if (csv === undefined) return [];
  const owned = fieldAt(csv.object['spec'], 'customresourcedefinitions', 'owned');
  const names = new Set(
    objects
      .filter(({ object }) => object.kind === 'CustomResourceDefinition')
      .map(({ object }) => object.metadata.name),
  );
  const missing = listOf(owned)
    .map((entry) => stringAt(entry, 'name') ?? '')
    .filter((name) => name !== '' && !names.has(name));
  return [...new Set(missing)].map((name) => ({
    severity: 'warning',
    file: csv.file,
    message: `owned CRD "${name}" not found in bundle`,
    fix: 'add the CustomResourceDefinition to manifests/: the operator will look for it',
  }));
}
