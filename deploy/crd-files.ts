import { stringify } from 'yaml';
import { catalogCRD } from '../api/catalogd/v1alpha1/crd.ts';
import type { KubernetesObject } from '../api/meta.ts';
import { clusterCatalogCRD, clusterExtensionCRD } from '../api/olm/v1/crd.ts';
import { operatorCRD } from '../api/operators/v1alpha1/crd.ts';
import { bundleCRD, bundleDeploymentCRD } from '../api/v1alpha1/crd.ts';

/**
 * Folder, relative to this file, to its generated CustomResourceDefinitions: an installation without
 * operators applies only the first.
 */
export function definitionsByFolder(): ReadonlyMap<string, readonly KubernetesObject[]> {
  return new Map([
    ['crds', [bundleCRD(), bundleDeploymentCRD()]],
    ['operators/crds', [catalogCRD(), operatorCRD(), clusterCatalogCRD(), clusterExtensionCRD()]],
  ]);
}

/** Path, relative to this file, to YAML text of every generated file, from the zod schemas. */
export function crdFiles(): ReadonlyMap<string, string> {
  return new Map(
    [...definitionsByFolder()].flatMap(([folder, definitions]) => {
      const names = definitions.map(fileNameOf);
      return [
        ...definitions.map((crd, index): [string, string] => [
          `${folder}/${names[index]}`,
          yamlOf(crd),
        ]),
        [
          `${folder}/kustomization.yaml`,
          yamlOf({
            apiVersion: 'kustomize.config.k8s.io/v1beta1',
            kind: 'Kustomization',
            resources: names,
          }),
        ],
      ];
    }),
  );
}

/** `catalogs.catalogd.operatorframework.io` → `catalogd.operatorframework.io_catalogs.yaml`. */
function fileNameOf({ metadata: { name = '' } }: KubernetesObject): string {
  const dot = name.indexOf('.');
  return `${name.slice(dot + 1)}_${name.slice(0, dot)}.yaml`;
}

const header =
  '# Generated from the schemas in api/ by `npm run generate`; change those instead.\n';

function yamlOf(object: object): string {
  // Quotes strings that kubectl's YAML 1.1 would read as another type.
  const options = { version: '1.1', aliasDuplicateObjects: false, lineWidth: 100 } as const;
  return header + stringify(object, options);
}
