import { stringAt } from '../../../../api/json-fields.ts';
import { error, type Finding, warning } from '../finding.ts';
import { type BundleContent, placeOf } from './bundle-content.ts';
import { type Check, type CheckOptions } from './check.ts';
import { type Removal, type RemovedUse, removals } from './removed-apis.ts';
import { removedInRules } from './removed-in-rules.ts';
import { isAtLeast, tolerantVersion } from './strict-version.ts';

/** Objects of APIs that newer versions of Kubernetes do not serve any more. */
export const deprecatedApis: Check = {
  name: 'alpha-deprecated-apis',
  summary: 'APIs that Kubernetes 1.22, 1.25 and 1.26 have removed',
  optional: true,
  find: removedApiFindings,
};

export function removedApiFindings(
  bundle: BundleContent,
  { kubeVersion }: CheckOptions,
): readonly Finding[] {
  const given = kubeVersion === undefined ? undefined : tolerantVersion(kubeVersion);
  const least = stringAt(bundle.csv?.object['spec'], 'minKubeVersion') ?? '';
  if (kubeVersion !== undefined && given === undefined) {
    const message = `invalid value informed via the k8s key option : ${kubeVersion}`;
    return [error({ message, fix: 'give --kube-version as 1.25 or the like' })];
  }
  const known = [given, tolerantVersion(least)].filter((version) => version !== undefined);
  return [
    ...unreadable(bundle, least),
    ...removals.flatMap((removal) => {
      const isRemoved = known.some((version) => isAtLeast(version, removal.version));
      const uses = bundle.objects.flatMap((located) => removal.usesOf(located));
      return [
        ...found(removal, uses, isRemoved ? error : warning),
        ...found(removal, removedInRules(removal, bundle.csv), warning),
      ];
    }),
  ];
}

function unreadable({ csv }: BundleContent, version: string): readonly Finding[] {
  if (csv === undefined || version === '' || tolerantVersion(version) !== undefined) return [];
  const message = `unable to use csv.Spec.MinKubeVersion to verify the CRD/Webhook apis because it has an invalid value: ${version}`;
  const place = placeOf(csv, 'spec', 'minKubeVersion');
  return [error({ place, message, fix: 'write it as three numbers, for example 1.25.0' })];
}

function found(
  { version }: Removal,
  uses: readonly RemovedUse[],
  finding: typeof error,
): readonly Finding[] {
  const [first] = uses;
  if (first === undefined) return [];
  const name = version.slice(0, 2);
  const kinds = [...Map.groupBy(uses, ({ what }) => what)].map(
    ([what, each]) => `${what}: ([${each.map(({ name: one }) => `"${one}"`).join(' ')}])`,
  );
  const message =
    `this bundle is using APIs which were deprecated and removed in v${name.join('.')}. ` +
    `More info: https://kubernetes.io/docs/reference/using-api/deprecation-guide/#v${name.join('-')}. ` +
    `Migrate the API(s) for ${kinds.join(',')}`;
  return [
    finding({ place: first.place, message, fix: 'write them for the version that is served now' }),
  ];
}
