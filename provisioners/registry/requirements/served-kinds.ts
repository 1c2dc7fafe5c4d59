import type { ClusterFacts } from '../../../core/sdk.ts';
import type { RequiredApi } from '../csv/required-api.ts';
import { objectName } from '../objects/object-name.ts';
import type { RegistryBundle } from '../registry-bundle.ts';
import type { Requirement } from './requirement.ts';

/**
 * The kinds of others that the operator says it needs, as by OLM: CRDs, aggregated APIs and native
 * ones. What the bundle brings itself is there in time.
 */
export const servedKinds: Requirement = (bundle, { apiVersions }) => {
  const served = new Set(apiVersions);
  const missing = [...neededCrds(bundle), ...neededApis(bundle)].filter(
    (needed) => !served.has(idOf(needed)),
  );
  if (missing.length === 0) return undefined;
  const them = missing.length === 1 ? 'it' : 'them';
  const names = [...new Set(missing.map((needed) => described(needed, apiVersions)))];
  return `the operator needs what the cluster does not serve: ${names.join(', ')}: install what brings ${them}, and this goes on by itself`;
};

interface NeededKind extends RequiredApi {
  /** Of the CRD, where it is one. */
  readonly crd?: string;
}

function neededCrds({ csv, crds }: RegistryBundle): readonly NeededKind[] {
  const own = new Set(crds.map(objectName));
  return csv.requiredCrds
    .filter(({ name }) => !own.has(name))
    .map(({ name, version, kind }) => {
      const group = name.slice(name.indexOf('.') + 1);
      return { group, version, kind, crd: name };
    });
}

function neededApis({ csv }: RegistryBundle): readonly NeededKind[] {
  const own = new Set(csv.ownedApiServices.map(idOf));
  return csv.requiredApis.filter((api) => !own.has(idOf(api)));
}

/** As facts of the cluster have it. */
function idOf({ group, version, kind }: RequiredApi): string {
  const id = kind === '' ? version : `${version}/${kind}`;
  return group === '' ? id : `${group}/${id}`;
}

function described(needed: NeededKind, apiVersions: ClusterFacts['apiVersions']): string {
  const { group, version, kind, crd } = needed;
  if (crd === undefined) return idOf(needed);
  const others = apiVersions.flatMap((id) => {
    const [ofGroup, other, ofKind] = id.split('/');
    return ofGroup === group && ofKind === kind ? [other] : [];
  });
  const has = others.length === 0 ? '' : `, of which there is ${others.join(', ')}`;
  return `CustomResourceDefinition ${crd} with version ${version}${has}`;
}
